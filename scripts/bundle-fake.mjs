// Puts the client's fake into one module, with the service's rules that it decides by: their package is not published.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const FAKE = join(ROOT, 'sdk/dist/testing');
/** The files that stay in the folder: the module, and the declarations of its public types. */
const LEFT = /^(index\.(js|d\.ts|d\.ts\.map)|rule\.d\.ts(\.map)?)$/;
const LISTS = [
  'packages/rules/src/values/data/iso-4217.json',
  'packages/purpose-data/curated/cities.txt',
  'packages/purpose-data/curated/merchant-names.txt',
];
const LISTS_ID = '\0lists';
/** Answers as `readFileSync` of node:fs for the lists. */
const renderLists = () => {
  const texts = LISTS.map((path) => [basename(path), readFileSync(join(ROOT, path), 'utf8')]);
  return `const texts = ${JSON.stringify(Object.fromEntries(texts))};
export const readFileSync = ({ pathname }) => texts[pathname.slice(pathname.lastIndexOf('/') + 1)];`;
};

const bundle = await rolldown({
  input: join(FAKE, 'index.js'),
  platform: 'neutral',
  cwd: join(ROOT, 'packages/rules'),
  transform: { define: { 'import.meta.url': '"file:///"' } },
  treeshake: { moduleSideEffects: false },
  resolve: { mainFields: ['module', 'main'] },
  plugins: [
    {
      name: 'without-node',
      resolveId(id) {
        if (id === 'node:fs') return LISTS_ID;
        return id.startsWith('node:') ? join(ROOT, 'scripts/without-node.mjs') : null;
      },
      load: (id) => (id === LISTS_ID ? renderLists() : null),
    },
  ],
});
const { output } = await bundle.write({
  file: join(FAKE, 'index.js'),
  format: 'esm',
  minify: true,
  codeSplitting: false,
});
for (const name of readdirSync(FAKE)) if (!LEFT.test(name)) rmSync(join(FAKE, name));

// The licences of what went in ask for their texts beside it.
const packages = new Set(
  output[0].moduleIds.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []),
);
const licences = [...packages].sort().map((dir) => {
  const { name } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'));
  const file = readdirSync(dir).find((each) => /^licen[sc]e/i.test(each));
  if (file === undefined) throw new Error(`${name} has no file with its licence.`);
  return `${name}\n\n${readFileSync(join(dir, file), 'utf8').trim()}\n`;
});
writeFileSync(join(FAKE, 'THIRD-PARTY-LICENSES.txt'), licences.join('\n----\n\n'));
