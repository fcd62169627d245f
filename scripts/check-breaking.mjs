// Compares the API with that of the last release: `npm run check:breaking`. Fails for a change that can break a client, unless
// a changeset names it in a line that begins with `Breaks: `. With `--release`, which is part of a release, it writes what
// the next releases are compared with.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fail, prepare, ROOT } from './prepare.mjs';
import { loadSource } from './sources.mjs';

const RELEASED = join(ROOT, 'docs', 'reference', 'released-api.txt');

/** The changes that the changesets announce. */
function announced() {
  const folder = join(ROOT, '.changeset');
  const texts = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
  return new Set(
    texts.flatMap((text) => [...text.matchAll(/^Breaks: (.+)$/gm)].map(([, change]) => change.trim())),
  );
}

await prepare({ with_dev: true }).catch(fail);
const { breakingChanges, promisesOf } = await loadSource('server/src/service/openapi/breaking-changes.ts');
const current = promisesOf(JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8')));
if (process.argv.includes('--release')) {
  writeFileSync(RELEASED, `${current.join('\n')}\n`);
} else if (!existsSync(RELEASED)) {
  console.log('There is no release yet, so no change can break a client.');
} else {
  const released = readFileSync(RELEASED, 'utf8').trimEnd().split('\n');
  const meant = announced();
  const changes = breakingChanges(released, current).filter((change) => !meant.has(change));
  for (const change of changes) console.error(change);
  if (changes.length > 0) {
    console.error(
      `${changes.length} changes break clients of the last release. Undo them, or announce each in a changeset as "Breaks: …".`,
    );
    process.exitCode = 1;
  }
}
