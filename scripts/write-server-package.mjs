// Writes the tarball of the server's package into a folder, as the service offers it: `node scripts/write-server-package.mjs FOLDER`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OfferedPackages } from '../server/dist/service/packages/offered-packages.js';
import { ROOT } from './prepare.mjs';

const folder = process.argv[2] ?? '.';
// It comes with its own packages, so no address gets into it.
const nowhere = 'http://localhost';
const packages = new OfferedPackages(join(ROOT, 'dist', 'packages'));
const server = (await packages.list(nowhere)).find(
  ({ name, file }) => name === 'purser' && file.endsWith('.tgz'),
);
if (server === undefined) throw new Error('The server is not packed: run npm run build.');
const { content } = await packages.file(server.file, nowhere);
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, server.file), content);
process.stdout.write(`${join(folder, server.file)}\n`);
