// Makes NOTICE from sources.yaml: `npm run generate`.
import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';

const SOURCES = parse(readFileSync(new URL('./sources.yaml', import.meta.url), 'utf8'), {
  merge: true,
}).lists;

/** NOTICE as text by its path in the repository. Throws unless sources.yaml names origin and license of exactly the curated lists. */
export function renderNotice() {
  const names = readdirSync(new URL('./curated/', import.meta.url))
    .map((file) => file.replace(/\.txt$/, ''))
    .sort();
  const listed = Object.keys(SOURCES).sort();
  if (names.join() !== listed.join())
    throw new Error(`packages/purpose-data/sources.yaml names ${listed}, and curated/ has ${names}.`);
  const notice = names.flatMap((name) => {
    const { origin, address, commit, date, license, sha256, follows } = SOURCES[name];
    if (!origin || !license)
      throw new Error(`packages/purpose-data/sources.yaml: ${name} needs origin and license`);
    const more = { address, commit, date, 'SHA-256': sha256, follows };
    const given = Object.entries(more).filter(([, text]) => text !== undefined);
    return [`${name}: ${origin}; ${license}`, ...given.map(([what, text]) => `  ${what}: ${text}`)];
  });
  return {
    'packages/purpose-data/NOTICE': `Where the lists of this package come from, and under which license they are.\n\n${notice.join('\n')}\n`,
  };
}
