// Loads modules of this repository from their sources, whatever was or was not built of them.
import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './prepare.mjs';

/** The source of what `@purser/…` names, by the exports of its package. Throws for what a package does not export. */
function sourceOf(id) {
  const [, name, path] = id.split('/', 3);
  const folder = realpathSync(join(ROOT, 'node_modules', '@purser', name));
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const subpath = path === undefined ? '.' : `.${id.slice(`@purser/${name}`.length)}`;
  const built = exports[subpath]?.default ?? exports['./*']?.default.replace('*', subpath.slice(2));
  if (built === undefined) throw new Error(`${name} does not export ${id}`);
  return join(folder, built.replace('./dist/', 'src/').replace(/\.js$/, '.ts'));
}

/** A plugin of Vite: every import of `@purser/…` is answered with the source. */
const fromSources = {
  name: 'purser-sources',
  enforce: 'pre',
  resolveId: (id) => (id.startsWith('@purser/') ? sourceOf(id) : null),
};

/** A module of the repository, loaded from the sources. Throws for one that cannot be loaded. */
export async function loadSource(path) {
  const { runnerImport } = await import('vite');
  // Without this Vite hands packages that were built to Node, before it asks a plugin.
  const environments = { inline: { resolve: { noExternal: [/^@purser\//] } } };
  const options = { root: ROOT, logLevel: 'error', plugins: [fromSources], environments };
  return (await runnerImport(join(ROOT, path), options)).module;
}
