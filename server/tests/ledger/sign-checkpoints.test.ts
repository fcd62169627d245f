import { mkdtemp, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OPERATOR } from '@purser/rules/domain/audit';
import { HISTORY_NAMES as names } from '@purser/rules/purpose/history';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createAgent } from '../../src/engine/commands/create-agent.ts';
import { verifyLedger } from '../../src/engine/verification/verify-ledger.ts';
import { addWorkspace, type Core, makeCore } from '../../src/service/installation/runtime.ts';
import { createMigratedDatabase, type TestDatabase } from '../support/postgres.ts';
import { SECRET_KEY } from '../support/running-service.ts';

let database: TestDatabase;
let directory: string;
let logged: { level: number; msg: string }[];
let core: Core;
let workspace_id: string;
const log = pino({ level: 'info' }, { write: (line: string) => void logged.push(JSON.parse(line)) });
const coreOn = (checkpoint_dir: string) =>
  makeCore({ address: database.connection, secret_key: SECRET_KEY, guarded: true, checkpoint_dir }, log);
beforeAll(async () => {
  database = await createMigratedDatabase();
  directory = await mkdtemp(join(tmpdir(), 'purser-sign-'));
  core = coreOn(join(directory, 'checkpoints'));
});
afterAll(async () => {
  await core.close();
  await database.drop();
  await rm(directory, { recursive: true, force: true });
});
beforeEach(async () => {
  logged = [];
  workspace_id = (await made()).workspace_id;
});

const made = () => addWorkspace(core, { name: 'W', plan: 'enterprise', trial_days: null, by: 'operator' });
let agents = 0;
const change = (of = workspace_id) =>
  core.lane.submit(
    of,
    createAgent,
    { slug: `a${++agents}` },
    { actor: OPERATOR, request_id: null, client_address: null },
  );
const inTable = async (of = workspace_id): Promise<number[]> => {
  const { rows } = await core.db.query('select seq from checkpoints where workspace_id = $1 order by seq', [
    of,
  ]);
  return rows.map((row) => row.seq);
};
const inFiles = async (of = workspace_id, dir = join(directory, 'checkpoints')): Promise<number[]> =>
  (await readdir(join(dir, of)).catch(() => [])).sort().map((name) => Number(name.slice(0, 16)));

test('a round signs every chain that moved, in both places, and nothing twice', async () => {
  const other = (await made()).workspace_id;
  await core.signer.round();
  expect([await inTable(), await inFiles(), await inTable(other), await inFiles(other)]).toEqual([
    [2],
    [2],
    [2],
    [2],
  ]);
  await change();
  await core.signer.round();
  await core.signer.round();
  expect([await inTable(), await inFiles(), await inTable(other)]).toEqual([[2, 3], [2, 3], [2]]);
  expect(logged).toEqual([]);
});

test('a process that begins anew signs nothing again, and a node with an empty disk keeps its own files', async () => {
  await core.signer.round();
  const again = coreOn(join(directory, 'checkpoints'));
  const fresh = coreOn(join(directory, 'fresh'));
  try {
    await again.signer.round();
    expect([await inTable(), await inFiles()]).toEqual([[2], [2]]);
    await fresh.signer.round();
    expect([await inTable(), await inFiles(workspace_id, join(directory, 'fresh'))]).toEqual([[2], [2]]);
  } finally {
    await again.close();
    await fresh.close();
  }
});

test('of many checkpoints a bounded number is kept, the newest among them, and the history stays valid', async () => {
  for (let i = 0; i < 90; i++) {
    await change();
    await core.signer.sign(workspace_id);
  }
  const options = {
    since: 0,
    keys: core.secrets.verifyingKeys,
    checkpoint_dir: join(directory, 'checkpoints'),
    names,
  };
  const found = await verifyLedger(core.ledger_db, workspace_id, options);
  expect(found).toMatchObject({ valid: true, checkpoint: { seq: 92 } });
  for (const kept of [await inTable(), await inFiles()]) {
    expect(kept.at(-1)).toBe(92);
    expect(kept.length).toBeGreaterThanOrEqual(20);
    // The newest 20, the last of an hour or two, and what came since they were last thinned.
    expect(kept.length).toBeLessThan(20 + 3 + 20);
  }
});

test('where no files can be written it is said once, and the table is signed all the same', async () => {
  const file = join(directory, 'a-file');
  await writeFile(file, '');
  const blocked = coreOn(join(file, 'checkpoints'));
  try {
    await change();
    await blocked.signer.round();
    await change();
    await blocked.signer.round();
    expect(await inTable()).toEqual([3, 4]);
    expect(logged.map((line) => line.msg)).toEqual(['checkpoints cannot be stored as files']);
  } finally {
    await blocked.close();
  }
});

describe('files that fail', () => {
  let dir: string;
  let node: Core;
  let other: string;
  const complaints = () => logged.filter(({ msg }) => msg === 'checkpoints cannot be stored as files').length;
  const roundOf = async (moved: readonly string[]) => {
    for (const of of moved) await change(of);
    await node.signer.round();
  };
  /** What is not filed is tried again in one of so many rounds. */
  const rounds = async () => {
    for (let i = 0; i < 15; i += 1) await node.signer.round();
  };
  beforeEach(async () => {
    dir = await mkdtemp(join(directory, 'files-'));
    node = coreOn(dir);
    other = (await made()).workspace_id;
  });
  afterEach(async () => {
    await node.close();
  });

  test('in one folder are complained of once, and again only after it had been put right', async () => {
    const folder = join(dir, workspace_id);
    await writeFile(folder, 'in the way');
    await roundOf([workspace_id, other]);
    await roundOf([other]);
    await rounds();
    await roundOf([workspace_id, other]);
    expect(complaints()).toBe(1);
    expect(await inFiles(other, dir)).toEqual([3, 4, 5]);

    await rm(folder);
    await rounds();
    expect([await inFiles(workspace_id, dir), await inTable()]).toEqual([[4], [3, 4]]);
    await rm(folder, { recursive: true });
    await writeFile(folder, 'in the way again');
    await roundOf([workspace_id]);
    expect(complaints()).toBe(2);
  });

  test('cost a look now and then: nothing is signed anew for them', async () => {
    await writeFile(join(dir, workspace_id), 'in the way');
    await roundOf([workspace_id]);
    const queries = vi.spyOn(node.db, 'query');
    await rounds();
    // Which heads moved, each time; and once the five looks at a chain before its file is tried again.
    expect(queries).toHaveBeenCalledTimes(15 + 5);
  });

  test('and come back with what they had are no failure any more', async () => {
    await roundOf([workspace_id, other]);
    await node.close();
    await rename(join(dir, workspace_id), join(dir, 'aside'));
    await writeFile(join(dir, workspace_id), 'in the way');
    node = coreOn(dir);
    await node.signer.round();
    expect(complaints()).toBe(1);
    await rm(join(dir, workspace_id));
    await rename(join(dir, 'aside'), join(dir, workspace_id));
    await rounds();

    await rm(join(dir, other), { recursive: true });
    await writeFile(join(dir, other), 'in the way');
    await roundOf([other]);
    expect(complaints()).toBe(2);
  });

  test('in being read are complained of once, although others are written', async () => {
    await roundOf([workspace_id]);
    const unreadable = `${'0'.repeat(15)}1.txt`;
    await symlink(unreadable, join(dir, workspace_id, unreadable));
    for (let i = 0; i < 70; i += 1) await roundOf([workspace_id]);
    await rounds();
    expect(complaints()).toBe(1);
    const kept = await inFiles(workspace_id, dir);
    expect(kept.at(-1)).toBe(73);
    // The one that cannot be read keeps none from being thinned.
    expect(kept.length).toBeLessThan(20 + 3 + 20);
  });

  test('of all workspaces are made up for when there is room again, however many are barred for good', async () => {
    const ids = [workspace_id, other];
    while (ids.length < 40) ids.push((await made()).workspace_id);
    const barred = ids.slice(0, 12);
    for (const id of ids) await writeFile(join(dir, id), 'in the way');
    await node.signer.round();
    for (const id of ids.slice(12)) await rm(join(dir, id));
    for (let i = 0; i < 12; i += 1) await rounds();
    const filed = await Promise.all(ids.map((id) => inFiles(id, dir).catch(() => [])));
    expect(filed.map((seqs) => seqs.length)).toEqual(ids.map((id) => (barred.includes(id) ? 0 : 1)));
    expect(complaints()).toBe(1);
  });
});
