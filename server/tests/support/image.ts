import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/**
 * Returns true if the build of an image would be given a file: the last pattern that matches it, or a folder above
 * it, counts.
 */
export function isGivenToImage(path: string): boolean {
  const parts = path.split('/');
  const ways = parts.map((_, i) => parts.slice(0, i + 1).join('/'));
  let is_given = true;
  for (const line of readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const is_exception = line.startsWith('!');
    const source = line
      .slice(is_exception ? 1 : 0)
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('**/', '\0')
      .replaceAll('*', '[^/]*')
      .replaceAll('\0', '(?:.*/)?');
    if (ways.some((way) => new RegExp(`^${source}$`).test(way))) is_given = is_exception;
  }
  return is_given;
}
