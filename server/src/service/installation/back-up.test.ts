import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { backUpDataDirectory } from './back-up.ts';
import { StartError } from './open-database.ts';

test('a directory for backups that cannot be made is an error that names it, before the database is asked', async () => {
  const file = fileURLToPath(import.meta.url);
  const address = { host: 'nowhere', port: 1, user: 'nobody', database: 'none' };
  const failed = backUpDataDirectory(address as never, 'nowhere', file, new Date(0)).catch((error) => error);
  expect(await failed).toBeInstanceOf(StartError);
  expect((await failed).message).toContain(`${file}: must be a directory`);
});
