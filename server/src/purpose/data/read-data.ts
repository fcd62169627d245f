import { readFileSync } from 'node:fs';

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
    } else if (line !== '' && !line.startsWith('#')) section.push(line);
  }
  return sections;
}

/** A table beside this file that is more than lists of terms. */
export function readTable<T>(name: string): T {
  return JSON.parse(textOf(`./${name}.json`)) as T;
}
