// Writes what is made of the routes, the settings and the sources of lists: `npm run generate`. The pages that people
// read on the web are committed: with `--check` it writes nothing and fails when one is stale. With `--built`, which is
// a step of every build, it writes only what is not committed.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fail, prepare, ROOT } from './prepare.mjs';
import { loadSource } from './sources.mjs';

const checking = process.argv.includes('--check');

/** Writes the files that are stale, or with `--check` reports them. @param {Record<string, string>} files texts by their paths */
function bringUpToDate(files) {
  for (const [path, text] of Object.entries(files)) {
    // An image has no Python client.
    if (path.startsWith('python/') && !existsSync(join(ROOT, 'python/pyproject.toml'))) continue;
    const file = join(ROOT, path);
    let before = null;
    try {
      before = readFileSync(file, 'utf8');
    } catch {
      // A file that is not there yet is stale like any other.
    }
    if (before === text) continue;
    if (checking) {
      process.stderr.write(`${path} is not up to date; run npm run generate.\n`);
      process.exitCode = 1;
      continue;
    }
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    process.stdout.write(`wrote ${path}\n`);
  }
}

// From the sources: the client's types are needed before anything is built.
const loadDocuments = () => loadSource('server/src/documents.ts');
/** The sources that name the methods of every client. */
const client = {
  resources: readFileSync(join(ROOT, 'sdk/src/resources.ts'), 'utf8'),
  client: readFileSync(join(ROOT, 'sdk/src/purser.ts'), 'utf8'),
};

if (process.argv.includes('--built')) {
  bringUpToDate((await loadDocuments()).renderBuilt(client));
} else {
  await prepare({ with_dev: true }).catch(fail);
  const { renderNotice } = await import('../packages/purpose-data/notice.mjs');
  const { checkClients, renderPages } = await loadDocuments();
  checkClients(client);
  bringUpToDate({ ...renderNotice(), ...renderPages() });
}
