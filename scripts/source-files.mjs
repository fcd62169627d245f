// Finds and reads the files that builds are made from. Plain Node without packages.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository. */
export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** The text of a file; empty where there is none. */
export function readText(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** SHA-256, hex. */
export function hashOf(text) {
  return createHash('sha256').update(text).digest('hex');
}

const NO_SOURCES = new Set(['dist', 'node_modules', 'tests']);

/** All files below a folder but tests, in a fixed order; folders named in `left_out` are left out. */
export function listSources(dir, left_out = NO_SOURCES) {
  return readdirSync(dir, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(dir, entry.name);
      if (entry.isDirectory()) return left_out.has(entry.name) ? [] : listSources(path, left_out);
      return entry.name.endsWith('.test.ts') ? [] : [path];
    });
}
