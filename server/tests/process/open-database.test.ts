import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { afterAll, expect, test } from 'vitest';
import { readConfig } from '../../src/service/config/config.ts';
import { DataDirectoryInUse, openDataDirectory } from '../../src/service/installation/data-directory.ts';
import { openDatabase } from '../../src/service/installation/open-database.ts';
import { DATA_PARENT } from '../support/memory.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(5);

const data_dir = mkdtempSync(join(DATA_PARENT, 'purser-open-'));
afterAll(() => rmSync(data_dir, { recursive: true, force: true }));

const config = readConfig({ DATA_DIR: data_dir });
const log = pino({ level: 'silent' });

test('a command waits for a data directory that is just being started or stopped; a service refuses it', async () => {
  const holder = await openDataDirectory(data_dir);
  await expect(openDatabase(config, { as: 'service', log })).rejects.toThrow(DataDirectoryInUse);
  const waiting = openDatabase(config, { as: 'command', log });
  setTimeout(() => holder.release(), 600);
  await (await waiting).close();
});
