import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Package {
  version?: string;
  engines?: { node?: string };
  optionalDependencies?: Record<string, string>;
}

const read = (name: string) => JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'));
const packages: Record<string, Package> = read('package-lock.json').packages;

test('lists the packages of every platform, without which `npm ci` refuses it', () => {
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) =>
        packages[`${path}/node_modules/${name}`] === undefined &&
        packages[`node_modules/${name}`] === undefined,
    ),
  );
  expect(missing).toEqual([]);
});

test('has no package that needs a later Node than we say', () => {
  const [major, minor] = read('package.json').engines.node.replace('>=', '').split('.').map(Number);
  const isMet = (range: string) =>
    range.split('||').some((part) => {
      const wanted = /^\s*(?:>=|\^|~)?\s*v?(\d+)(?:\.(\d+))?/.exec(part);
      if (wanted === null) return part.trim() === '*';
      const [from, from_minor] = [Number(wanted[1]), Number(wanted[2] ?? 0)];
      const is_bound = /^\s*[\^~]/.test(part);
      return is_bound
        ? from === major && from_minor <= minor
        : from < major || (from === major && from_minor <= minor);
    });
  const late = Object.entries(packages).filter(
    ([, { engines }]) => engines?.node !== undefined && !isMet(engines.node),
  );
  expect(late.map(([path, { engines }]) => `${path}: ${engines?.node}`)).toEqual([]);
});
