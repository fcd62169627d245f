import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';

/** The size of the files that `npm run build` creates for the browser. */

const CONSOLE = fileURLToPath(new URL('../', import.meta.url));
const DIST = join(CONSOLE, 'dist');
const KB = 1000;

interface Chunk {
  file: string;
  imports?: string[];
  isEntry?: boolean;
}

let chunks: Record<string, Chunk>;
const size = (file: string) => gzipSync(readFileSync(join(DIST, file)), { level: 9 }).length;
const sum = (files: Iterable<string>) => [...files].map(size).reduce((a, b) => a + b, 0);

beforeAll(() => {
  chunks = JSON.parse(readFileSync(join(DIST, 'manifest.json'), 'utf8'));
});

/** The JavaScript files that a chunk requires. */
function neededBy(name: string, found = new Set<string>()): Set<string> {
  const chunk = chunks[name];
  if (chunk === undefined || found.has(chunk.file)) return found;
  found.add(chunk.file);
  for (const each of chunk.imports ?? []) neededBy(each, found);
  return found;
}

function loadedFirst(): Set<string> {
  const entries = Object.keys(chunks).filter((name) => chunks[name]?.isEntry === true);
  return new Set(entries.flatMap((name) => [...neededBy(name)]));
}

describe('what is loaded first', () => {
  test('is at most 150 kB of JavaScript, gzipped, with the first screen', () => {
    const overview = neededBy('src/screens/overview/Overview.tsx');
    expect(overview.size).toBeGreaterThan(3);
    const bytes = sum(new Set([...loadedFirst(), ...overview]));
    expect(bytes).toBeGreaterThan(50 * KB);
    expect(bytes).toBeLessThanOrEqual(150 * KB);
  });
  test('is without the component library', () => {
    expect([...loadedFirst()].filter((file) => file.includes('base-ui'))).toEqual([]);
  });
  test('has no script and no style within the page', () => {
    const page = readFileSync(join(DIST, 'index.html'), 'utf8');
    expect(page).not.toMatch(/<style|style=|<script(?![^>]*\bsrc=)|\son\w+=/i);
  });
});

test('what is loaded later is at most 40 kB a file, and 80 kB the one with the component library', () => {
  const first = loadedFirst();
  const files = new Set(Object.values(chunks).map((chunk) => chunk.file));
  const later = [...files].filter((file) => file.endsWith('.js') && !first.has(file));
  expect(later.length).toBeGreaterThan(0);
  const heavy = later.filter((file) => size(file) > (file.includes('base-ui') ? 80 : 40) * KB);
  expect(heavy).toEqual([]);
});

test('all styles together are at most 27 kB, gzipped', () => {
  const styles = readdirSync(join(DIST, 'assets')).filter((name) => name.endsWith('.css'));
  expect(styles.length).toBeGreaterThan(0);
  expect(sum(styles.map((name) => join('assets', name)))).toBeLessThanOrEqual(27 * KB);
});

test('every text file has its compressed forms beside it', () => {
  const texts = readdirSync(DIST, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(html|js|css|svg)$/.test(name),
  );
  const bare = texts.filter(
    (name) => !existsSync(join(DIST, `${name}.br`)) || !existsSync(join(DIST, `${name}.gz`)),
  );
  expect(bare).toEqual([]);
});

describe('the sources', () => {
  const files = readdirSync(join(CONSOLE, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(ts|tsx|css)$/.test(name),
  );
  test('are at most 25 a folder', () => {
    const counts = new Map<string, number>();
    for (const name of files.filter((each) => /(?<!\.test)\.tsx?$/.test(each))) {
      counts.set(dirname(name), (counts.get(dirname(name)) ?? 0) + 1);
    }
    expect([...counts].filter(([, count]) => count > 25)).toEqual([]);
  });
  test('have at most 400 lines each', () => {
    const linesOf = (name: string) => readFileSync(join(CONSOLE, 'src', name), 'utf8').split('\n').length;
    expect(files.filter((name) => linesOf(name) > 400)).toEqual([]);
  });
});
