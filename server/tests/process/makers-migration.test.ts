import { readFile, rm } from 'node:fs/promises';
import { eventHash, GENESIS, recordHash } from '@purser/rules/domain/ledger';
import { canonicalJson } from '@purser/rules/values/canonical-json';
import { expect } from 'vitest';
import { loadAuditRecords } from '../../src/engine/storage/audit.ts';
import { listLedgerEvents } from '../../src/engine/storage/ledger.ts';
import { setUp } from '../support/browser.ts';
import { AUTHORITY, freshKey, makeKey, makeTestCore, spend } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const { test, s } = serviceTest({ plan: 'enterprise' });
const MIGRATION = new URL('../../migrations/035.do.makers.sql', import.meta.url);
const MADE_LATER = [
  'made_by_key_id',
  'made_by_principal_id',
  'made_by_person',
  'invited_by_key_id',
  'invited_by_person',
];

/** Seals the history again as a build did that kept no makers on rows, and takes their columns away. */
async function sealAsBefore(): Promise<void> {
  const core = makeTestCore(s.database.connection);
  const { workspace_id } = s;
  const { rows: events } = await listLedgerEvents(
    core.db,
    workspace_id,
    {},
    { order: 'asc', past: null, limit: 200 },
  );
  let { hash: prev_hash } = GENESIS;
  for (const event of events) {
    let { data_hash } = event;
    const [record] = await loadAuditRecords(core.db, workspace_id, [event.seq]);
    if (record !== undefined) {
      const state = JSON.parse(record.state);
      for (const row of Object.values(state)) for (const name of MADE_LATER) delete (row as never)[name];
      record.state = canonicalJson(state);
      data_hash = recordHash(record);
      await s.sql('update audit_records set state = $3 where workspace_id = $1 and seq = $2', [
        workspace_id,
        event.seq,
        record.state,
      ]);
    }
    const hash = eventHash({ ...event, data_hash, prev_hash });
    await s.sql(
      'update ledger_events set data_hash = $3, prev_hash = $4, hash = $5 where workspace_id = $1 and seq = $2',
      [workspace_id, event.seq, data_hash, prev_hash, hash],
    );
    prev_hash = hash;
  }
  await core.close();
  await s.sql('update ledger_heads set hash = $2 where workspace_id = $1', [workspace_id, prev_hash]);
  await s.sql('delete from checkpoints');
  await rm(s.checkpoint_dir, { recursive: true, force: true });
  await s.sql(`alter table api_keys drop column made_by_key_id, drop column made_by_principal_id,
      drop column made_by_person;
    alter table invitations drop column invited_by_key_id, drop column invited_by_person;
    alter table reviews drop column by_key_maker;
    alter table report_counted drop column by_key_maker;
    alter table workspaces drop column separation_of_duties;
    drop index members_by_any_principal`);
}

const verified = async () => (await s.call('GET', '/v1/ledger/verify')).body;

test('keys and invitations of an earlier build get their makers from the audit records, and verify', async () => {
  const ada = await setUp(s);
  const { principal_id } = (await ada.call('GET', '/v1/me')).body;
  const authority = { ...AUTHORITY, review_threshold_minor: 1 };
  await ada.call('POST', '/v1/agents', { body: { slug: 'bot', authority } });
  const key = (await ada.call('POST', '/v1/api-keys', { body: { name: 'k', scopes: ['admin', 'read'] } }))
    .body;
  const agent_key = await makeKey(s, { agent_id: 'bot' }, key.key);
  const by_operator = await makeKey(s, { agent_id: 'bot' });
  const revoked = await makeKey(s, { scopes: ['read'] }, key.key);
  await ada.call('DELETE', `/v1/api-keys/${revoked.id}`);
  const body = { email: 'bob@example.com', role: 'viewer' };
  await ada.call('POST', '/v1/invitations', { body });
  await s.call('POST', '/v1/invitations', { key: key.key, body });
  const asked = spend('bot', 2_000);
  const decided = await s.call('POST', '/v1/decisions', {
    key: s.admin_key,
    body: asked,
    idempotency_key: freshKey(),
  });
  const at = `/v1/decisions/${decided.body.decision_id}`;
  await ada.call('POST', `${at}/reviews`, { body: { action: 'ALLOW', reason_code: 'OK' } });
  const columns = 'key_id, made_by_key_id, made_by_principal_id, made_by_person';
  const made = async () => ({
    keys: (await s.sql(`select ${columns} from api_keys order by key_id`)).rows,
    invitations: (
      await s.sql('select invited_by_key_id, invited_by_person from invitations order by invitation_id')
    ).rows,
  });
  const before = await made();
  expect(before.keys).toContainEqual({
    key_id: agent_key.id,
    made_by_key_id: key.id,
    made_by_principal_id: principal_id,
    made_by_person: principal_id,
  });

  await sealAsBefore();
  await s.sql(await readFile(MIGRATION, 'utf8'));
  expect(await made()).toEqual(before);
  expect(await verified()).toMatchObject({ valid: true, breaks: [] });

  // A change of an old row is sealed with its maker.
  await ada.call('DELETE', `/v1/api-keys/${by_operator.id}`);
  expect(await verified()).toMatchObject({ valid: true, breaks: [] });
  for (const change of [
    `update api_keys set made_by_person = null where key_id = '${agent_key.id}'`,
    `update api_keys set made_by_person = 'user:eve' where key_id = '${revoked.id}'`,
    'update invitations set invited_by_person = null where invited_by_key_id is not null',
  ]) {
    const kept = await made();
    await s.sql(change);
    expect([change, (await verified()).breaks.map(({ kind }: { kind: string }) => kind)]).toEqual([
      change,
      ['ROW_MISMATCH'],
    ]);
    for (const { key_id, made_by_person } of kept.keys) {
      await s.sql('update api_keys set made_by_person = $2 where key_id = $1', [key_id, made_by_person]);
    }
  }
});
