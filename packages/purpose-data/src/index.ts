import { readFileSync } from 'node:fs';

/** The tables that an evaluation may leave out, to measure what each is worth. */
export const TABLES: ReadonlySet<string> = new Set([
  'trade-words',
  'other-languages',
  'trade-companies',
  'attribute-scales',
  'private-life',
  'cities',
]);

const left_out = new Set<string>();

/** Leaves a table out. It must be called before the assessor is loaded, and only by an evaluation. */
export function leaveOut(name: string): void {
  left_out.add(name);
}

/**
 * The sections of a list by their headings, in its order: a term a line, without comments and blank lines. Throws for a
 * list that is not there.
 */
export function readTerms(name: string): ReadonlyMap<string, readonly string[]> {
  const sections = new Map<string, string[]>();
  let section: string[] = [];
  const text = readFileSync(new URL(`../curated/${name}.txt`, import.meta.url), 'utf8');
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const heading = /^\[(.+)\]$/.exec(line)?.[1];
    if (heading !== undefined) {
      section = [];
      sections.set(heading, section);
    } else if (!left_out.has(name)) section.push(line);
  }
  return sections;
}

/** A section of a list. Throws for one that is not there. */
export function readSection(
  list: ReadonlyMap<string, readonly string[]>,
  heading: string,
): readonly string[] {
  const terms = list.get(heading);
  if (terms === undefined) throw new Error(`The list has no section ${heading}.`);
  return terms;
}

/** The text around all alternatives of a pattern, with `…` for them. */
const AROUND = 'around ';

/** The pattern of alternatives that stand a line each. */
export function patternOf(lines: readonly string[], flags = ''): RegExp {
  const around = lines.find((line) => line.startsWith(AROUND))?.slice(AROUND.length) ?? '…';
  const alternatives = lines.filter((line) => !line.startsWith(AROUND)).join('|');
  return new RegExp(
    around.replace('…', () => alternatives),
    flags,
  );
}

/** The patterns of a list whose headings are `name` or `name; flags`, by their names. */
export function readPatterns(name: string): ReadonlyMap<string, RegExp> {
  return new Map(
    [...readTerms(name)].map(([heading, lines]) => {
      const [id = '', flags] = heading.split('; ');
      return [id, patternOf(lines, flags)];
    }),
  );
}

/** A pattern of a list. Throws for one that is not there. */
export function readPattern(list: ReadonlyMap<string, RegExp>, name: string): RegExp {
  const found = list.get(name);
  if (found === undefined) throw new Error(`The list has no pattern ${name}.`);
  return found;
}
