import { readFileSync } from 'node:fs';

/** The tables of words that an evaluation may leave out, to measure what each is worth. */
export const TABLES: ReadonlySet<string> = new Set([
  'trade-words',
  'wider-words',
  'other-languages',
  'trade-companies',
  'private-life',
  'cities',
]);

const left_out = new Set<string>();

/** Leaves a table out. It must be called before the assessor is loaded, and only by an evaluation. */
export function leaveOut(name: string): void {
  left_out.add(name);
}

const textOf = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');

/** The sections of a list beside this file: `[name]`, then one term a line. Lines with `#` are comments. */
export function readTerms(name: string): ReadonlyMap<string, readonly string[]> {
  const sections = new Map<string, string[]>();
  let section: string[] = [];
  for (const line of textOf(`./${name}.txt`).split('\n')) {
    const heading = /^\[(.+)\]$/.exec(line)?.[1];
    if (heading !== undefined) {
      section = [];
      sections.set(heading, section);
    } else if (line !== '' && !line.startsWith('#') && !left_out.has(name)) section.push(line);
  }
  return sections;
}

/** A table beside this file that is more than lists of terms. */
export function readTable<T>(name: string): T {
  return JSON.parse(textOf(`./${name}.json`)) as T;
}
