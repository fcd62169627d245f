import { readFileSync } from 'node:fs';
import { minVersion, type SemVer, satisfies } from 'semver';
import { expect, test } from 'vitest';

interface Package {
  version?: string;
  integrity?: string;
  link?: boolean;
  dev?: boolean;
  optional?: boolean;
  engines?: { node?: string };
  optionalDependencies?: Record<string, string>;
}

const read = (name: string) => JSON.parse(readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8'));
const packages: Record<string, Package> = read('package-lock.json').packages;

/** As Node looks for it: in the package's own folder, then in each above it. */
function isListedFor(path: string, name: string): boolean {
  if (packages[`${path === '' ? '' : `${path}/`}node_modules/${name}`] !== undefined) return true;
  return path !== '' && isListedFor(path.slice(0, Math.max(0, path.lastIndexOf('/node_modules/'))), name);
}

test('lists the packages of every platform, without which `npm ci` refuses it', () => {
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter((name) => !isListedFor(path, name)),
  );
  expect(missing).toEqual([]);
});

test('knows what each package holds, but for tools of platforms that a registry did not have', () => {
  const untold = Object.entries(packages).filter(
    ([path, { integrity, link, dev, optional }]) =>
      path.includes('node_modules/') && integrity === undefined && !link && !(dev && optional),
  );
  expect(untold.map(([path]) => path)).toEqual([]);
});

/** What tests of `@purser/agents` load, on our Node too. Nobody who uses a package of ours gets them. */
const TRIED_BESIDE = /^node_modules\/(ai|openai|@ai-sdk\/(gateway|provider|provider-utils))$/;

test('has no package that needs a later Node than we say', () => {
  const least = minVersion(read('package.json').engines.node) as SemVer;
  const late = Object.entries(packages).filter(
    ([path, { engines, dev }]) =>
      engines?.node !== undefined &&
      !satisfies(least, engines.node) &&
      !(dev === true && TRIED_BESIDE.test(path)),
  );
  expect(late.map(([path, { engines }]) => `${path}: ${engines?.node}`)).toEqual([]);
});
