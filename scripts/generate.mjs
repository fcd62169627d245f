// Writes every generated file: `npm run generate`. With `--check` it writes nothing and fails when one is stale.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fail, prepare, ROOT } from './prepare.mjs';

await prepare({ with_dev: true }).catch(fail);
const checking = process.argv.includes('--check');

/** Writes the files that are stale, or tells of them. @param {Record<string, string>} files texts by their paths */
function bringUpToDate(files) {
  for (const [path, text] of Object.entries(files)) {
    const file = join(ROOT, path);
    let before = null;
    try {
      before = readFileSync(file, 'utf8');
    } catch {
      // A file that is not there yet is stale like any other.
    }
    if (before === text) continue;
    if (checking) {
      process.stderr.write(`${path} is not up to date; run npm run generate.\n`);
      process.exitCode = 1;
      continue;
    }
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    process.stdout.write(`wrote ${path}\n`);
  }
}

const { renderNotice } = await import('../packages/purpose-data/notice.mjs');
bringUpToDate(renderNotice());
const { renderDocuments } = await import(pathToFileURL(join(ROOT, 'server', 'dist', 'documents.js')).href);
bringUpToDate(renderDocuments());
