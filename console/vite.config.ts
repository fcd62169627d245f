import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { templates } from './templates.ts';

const DIST = fileURLToPath(new URL('./dist/', import.meta.url));
const COMPRESSIBLE = /\.(html|js|css|svg)$/;

/** Writes a `.br` and a `.gz` beside every text file, so that the service compresses nothing while it serves. */
function precompress(): Plugin {
  return {
    name: 'precompress',
    apply: 'build',
    closeBundle() {
      for (const name of readdirSync(DIST, { recursive: true, encoding: 'utf8' })) {
        if (!COMPRESSIBLE.test(name)) continue;
        const path = join(DIST, name);
        const content = readFileSync(path);
        const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
        writeFileSync(`${path}.br`, brotliCompressSync(content, { params }));
        writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
      }
    },
  };
}

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: '/console/',
  plugins: [react(), templates(), precompress()],
  resolve: {
    alias: {
      '@purser/contract': fileURLToPath(new URL('../packages/contract/src', import.meta.url)),
      '@purser/sdk': fileURLToPath(new URL('../sdk/src/index.ts', import.meta.url)),
    },
  },
  build: {
    outDir: DIST,
    emptyOutDir: true,
    target: 'es2022',
    // Inlined assets would be `data:` URLs, which the page's policy allows only for images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    cssCodeSplit: true,
    manifest: 'manifest.json',
    rolldownOptions: {
      output: {
        // The component library is one file that loads on demand. A group includes the imports of its files, so shared
        // code is assigned to the file that loads first.
        codeSplitting: {
          groups: [
            { name: 'vendor', test: /node_modules\/(react|react-dom|scheduler|@tanstack)\//, priority: 2 },
            { name: 'base-ui', test: /node_modules\/(@base-ui|@floating-ui|tabbable)\//, priority: 1 },
          ],
        },
      },
    },
  },
  server: {
    // `npm run dev -w console` beside a running service.
    proxy: { '/v1': process.env.PURSER_BASE_URL ?? 'http://127.0.0.1:8080' },
  },
});
