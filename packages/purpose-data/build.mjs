// Makes the lists that the service reads from the curated ones, and NOTICE from sources.yaml: `npm run generate`. The same
// sources give the same bytes.
import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';

const CURATED = new URL('./curated/', import.meta.url);
const SOURCES = parse(readFileSync(new URL('./sources.yaml', import.meta.url), 'utf8'), {
  merge: true,
}).lists;

/** A curated list without comments and blank lines, checked: each term once in its section, none with blanks at its ends. */
function listOf(name) {
  const seen = new Set();
  const problem = (at, what) => new Error(`packages/purpose-data/curated/${name}.txt:${at + 1} ${what}`);
  let section = null;
  const lines = readFileSync(new URL(`${name}.txt`, CURATED), 'utf8').split('\n');
  const kept = lines.filter((line, i) => {
    if (line === '' || line.startsWith('#')) return false;
    if (line !== line.normalize('NFC')) throw problem(i, 'is not in NFC');
    const heading = /^\[(.+)\]$/.exec(line)?.[1];
    if (heading !== undefined) section = heading;
    else if (section === null) throw problem(i, 'stands before the first section');
    else if (!name.endsWith('-patterns') && line !== line.trim()) throw problem(i, 'has a blank at its end');
    const key = heading === undefined ? `${section}\n${line}` : line;
    if (seen.has(key)) throw problem(i, 'stands there twice');
    seen.add(key);
    return true;
  });
  return `${kept.join('\n')}\n`;
}

/** Every generated file of this package, as text by its path in the repository. Throws for a list that is not in order. */
export function renderLists() {
  const names = readdirSync(CURATED)
    .map((file) => file.replace(/\.txt$/, ''))
    .sort();
  const listed = Object.keys(SOURCES).sort();
  if (names.join() !== listed.join())
    throw new Error(`packages/purpose-data/sources.yaml names ${listed}, and curated/ has ${names}.`);
  const notice = names.flatMap((name) => {
    const { origin, address, commit, date, license, sha256, follows } = SOURCES[name];
    if (!origin || !license)
      throw new Error(`packages/purpose-data/sources.yaml: ${name} wants origin and license`);
    const more = { address, commit, date, 'SHA-256': sha256, follows };
    const told = Object.entries(more).filter(([, text]) => text !== undefined);
    return [`${name}: ${origin}; ${license}`, ...told.map(([what, text]) => `  ${what}: ${text}`)];
  });
  return {
    'packages/purpose-data/NOTICE': `Where the lists of this package come from, and under which license they are.\n\n${notice.join('\n')}\n`,
    ...Object.fromEntries(names.map((name) => [`packages/purpose-data/lists/${name}.txt`, listOf(name)])),
  };
}
