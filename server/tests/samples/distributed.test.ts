import { afterAll, beforeAll, expect, test } from 'vitest';
import { noteEngine } from '../../src/engine/citus/engine.ts';
import { listSamples } from '../../src/engine/samples/sample-clocks.ts';
import { addWorkspace, newId } from '../../src/service/installation/runtime.ts';
import { makeSamples } from '../../src/service/samples/samples.ts';
import { makeTestCore, type RunningService, startTestService } from '../support/running-service.ts';

let s: RunningService;
let core: ReturnType<typeof makeTestCore>;
beforeAll(async () => {
  s = await startTestService({ plan: 'team' });
  core = makeTestCore(s.database.connection, s.checkpoint_dir);
});
afterAll(async () => {
  await core.close();
  await s.stop();
});

/** Samples as they are made where Citus holds the workspaces; `open` would write one. */
function onCitus() {
  const db = { query: core.db.query.bind(core.db) as typeof core.db.query };
  noteEngine(db, { kind: 'citus' });
  const open = () => {
    throw new Error('a sample was begun');
  };
  return makeSamples({ ...core, db, address: s.database.connection, open });
}

test('on Citus a new sample is refused before anything is written, with what to do; one that is there is found and removed', async () => {
  const samples = onCitus();
  await expect(samples.create(null, 'team')).rejects.toMatchObject({
    code: 'no_samples_on_citus',
    status: 409,
    message:
      'The database is distributed with Citus, where no sample data can be made: make it on an installation with plain PostgreSQL.',
  });
  expect((await s.sql('select from sample_clocks')).rowCount).toBe(0);
  const id = newId('workspace');
  const { workspace_id } = await addWorkspace(core, {
    name: 'Sample data',
    plan: 'team',
    trial_days: null,
    by: 'system',
    sample: id,
  });
  await expect(samples.create(null, 'team')).resolves.toEqual({ workspace_id, admin_key: null });
  await samples.remove(workspace_id);
  expect(await listSamples(core.db)).toEqual([]);
  for (const table of ['ledger_heads', 'ledger_events', 'workspaces', 'api_keys', 'api_key_digests']) {
    const left = await s.sql(`select from ${table} where workspace_id = $1`, [workspace_id]);
    expect([table, left.rowCount]).toEqual([table, 0]);
  }
  await expect(samples.remove(s.workspace_id)).rejects.toMatchObject({ code: 'not_a_sample' });
});
