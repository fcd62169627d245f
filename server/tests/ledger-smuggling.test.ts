import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AUTHORITY, freshKey, type RunningService, spend, startTestService } from './running-service.ts';

/** Each test has a workspace of its own to spoil: nothing has to be put right again. */
let s: RunningService;
let workspace_id: string;
let key: string;
beforeAll(async () => {
  s = await startTestService();
});
afterAll(() => s.stop());
beforeEach(async () => {
  const made = await s.addWorkspace({ plan: 'team' });
  workspace_id = made.workspace_id;
  key = made.admin_key;
  // Events: 1 workspace, 2 key, 3 agent, 4 authority, 5 authority, 6 read-only key, 7 to 10 decisions.
  await s.call('POST', '/v1/agents', { key, body: { slug: 'a', authority: AUTHORITY } });
  await s.call('POST', '/v1/agents/a/authority', { key, body: { ...AUTHORITY, monthly_budget_minor: 100 } });
  await s.call('POST', '/v1/api-keys', { key, body: { name: 'k', scopes: ['read'] } });
  for (let i = 1; i <= 4; i++) {
    await s.call('POST', '/v1/decisions', { key, body: spend('a', i), idempotency_key: freshKey() });
  }
});

interface Found {
  valid: boolean;
  first_break_seq: number | null;
  breaks: { seq: number; kind: string; detail: string }[];
}
const verify = async (): Promise<Found> => (await s.call('GET', '/v1/ledger/verify', { key })).body;
/** `W` stands for the workspace. */
const spoil = (text: string) => s.sql(text.replaceAll('W', `'${workspace_id}'`));
const eventOf = async (subject_id: string) =>
  Number(
    (
      await s.sql('select seq from ledger_events where workspace_id = $1 and subject_id = $2', [
        workspace_id,
        subject_id,
      ])
    ).rows[0].seq,
  );

test('an untouched history of ten events is valid', async () => {
  expect(await verify()).toMatchObject({ valid: true, events_checked: 10, breaks: [] });
});

describe('rows that no event made are found', () => {
  const copies: [string, string, string][] = [
    [
      'a decision with its idempotency key',
      `insert into decisions select workspace_id, left(decision_id, -1) || case right(decision_id, 1) when '0' then '1' else '0' end,
         agent_id, 'smuggled', decision, mode, reason_codes, merchant, requested_amount_minor, currency, created_at, document
         from decisions where workspace_id = W order by decision_id limit 1;
       insert into idempotency_keys select workspace_id, agent_id, 'smuggled', request_hash,
         (select decision_id from decisions where workspace_id = W and idempotency_key = 'smuggled')
         from idempotency_keys where workspace_id = W limit 1`,
      'decision',
    ],
    [
      'a decision that is newer than all others',
      `insert into decisions select workspace_id, 'dec_7ZZZZZZZZZZZZZZZZZZZZZZZZZ', agent_id, 'smuggled', decision, mode,
         reason_codes, merchant, requested_amount_minor, currency, created_at, document
         from decisions where workspace_id = W limit 1`,
      'decision',
    ],
    [
      'an idempotency key that would replay another decision',
      `insert into idempotency_keys select workspace_id, agent_id, 'smuggled', request_hash, decision_id
         from idempotency_keys where workspace_id = W limit 1`,
      'idempotency key',
    ],
    [
      'an authority',
      `insert into authorities select workspace_id, agent_id, 9, hash, authority, created_at, key_id, principal_id
         from authorities where workspace_id = W limit 1`,
      'authority',
    ],
    [
      'a key',
      `insert into api_keys select workspace_id, 'key_smuggled', name, kind, scopes, agent_id, principal_id, digest, hint,
         created_at, expires_at, revoked_at from api_keys where workspace_id = W limit 1`,
      'api_key',
    ],
    [
      'an audit record',
      `insert into audit_records select workspace_id, 99, audit_id, action, actor, target_type, target_id, changes, state,
         request_id, client_address, created_at from audit_records where workspace_id = W limit 1`,
      'audit record',
    ],
    [
      'an audit record in the place of a decision',
      `insert into audit_records select workspace_id, 8, audit_id, action, actor, target_type, target_id, changes, state,
         request_id, client_address, created_at from audit_records where workspace_id = W limit 1`,
      'audit record',
    ],
  ];
  test.each(copies)('%s', async (_name, statements, what) => {
    await spoil(statements);
    const found = await verify();
    expect([found.valid, found.breaks.map((each) => each.kind)]).toEqual([false, ['ROW_MISMATCH']]);
    expect(found.breaks[0]?.detail).toContain(`The row of ${what} `);
    expect(found.breaks[0]?.detail).toContain('is in no event');
    expect(found.first_break_seq).toBe(10);
  });

  test('an event pushed in behind the last one is not the head', async () => {
    await spoil(
      `insert into ledger_events select workspace_id, 11, id, type, subject_type, subject_id, occurred_at, data_hash, hash, hash
         from ledger_events where workspace_id = W and seq = 10`,
    );
    const found = await verify();
    expect([found.valid, found.first_break_seq]).toEqual([false, 11]);
    expect(found.breaks.map((each) => each.kind)).toContain('ENTRY_ALTERED');
    expect(found.breaks.map((each) => each.kind)).toContain('LINK_BROKEN');
  });
});

describe('an edit is reported at its own event, as what it is', () => {
  test('of a decision and of its idempotency key', async () => {
    const decision_id = (
      await s.sql('select decision_id from decisions where workspace_id = $1 order by 1 offset 2 limit 1', [
        workspace_id,
      ])
    ).rows[0].decision_id as string;
    const seq = await eventOf(decision_id);
    expect(seq).toBe(9);
    const edits = [
      "update decisions set decision = 'DENY' where decision_id = ID",
      'update decisions set requested_amount_minor = 1000000 where decision_id = ID',
      `update decisions set document = replace(document, 'ALLOW', 'DENY') where decision_id = ID`,
      'update idempotency_keys set request_hash = set_byte(request_hash, 0, 0) where decision_id = ID',
    ];
    for (const edit of edits) {
      const undo = await s.sql(
        'select d.*, k.request_hash from decisions d join idempotency_keys k using (decision_id) where decision_id = $1',
        [decision_id],
      );
      await spoil(edit.replace('ID', `'${decision_id}'`));
      const found = await verify();
      expect([edit, found.valid, found.breaks.map((each) => [each.seq, each.kind])]).toEqual([
        edit,
        false,
        [[seq, 'ROW_MISMATCH']],
      ]);
      const row = undo.rows[0];
      await s.sql(
        'update decisions set decision = $2, requested_amount_minor = $3, document = $4 where decision_id = $1',
        [decision_id, row.decision, row.requested_amount_minor, row.document],
      );
      await s.sql('update idempotency_keys set request_hash = $2 where decision_id = $1', [
        decision_id,
        row.request_hash,
      ]);
      expect((await verify()).valid).toBe(true);
    }
  });

  test.each<[string, string, number, string[]]>([
    [
      'an event',
      "update ledger_events set type = 'agent.updated' where workspace_id = W and seq = 5",
      5,
      ['ENTRY_ALTERED'],
    ],
    [
      "an event's subject",
      "update ledger_events set subject_id = 'agt_x' where workspace_id = W and seq = 5",
      5,
      ['ENTRY_ALTERED'],
    ],
    [
      "an event's time",
      "update ledger_events set occurred_at = occurred_at + interval '1 ms' where workspace_id = W and seq = 5",
      5,
      ['ENTRY_ALTERED'],
    ],
    [
      "an event's hash of its data",
      'update ledger_events set data_hash = hash where workspace_id = W and seq = 5',
      5,
      ['ENTRY_ALTERED', 'ROW_MISMATCH'],
    ],
    [
      "an event's link",
      'update ledger_events set prev_hash = hash where workspace_id = W and seq = 5',
      5,
      ['ENTRY_ALTERED', 'LINK_BROKEN'],
    ],
    [
      "an event's own hash, which the next one no longer follows",
      'update ledger_events set hash = prev_hash where workspace_id = W and seq = 5',
      5,
      ['ENTRY_ALTERED', 'LINK_BROKEN'],
    ],
    [
      'an audit record',
      "update audit_records set client_address = '203.0.113.9' where workspace_id = W and seq = 5",
      5,
      ['ROW_MISMATCH'],
    ],
    ['a workspace', "update workspaces set plan = 'enterprise' where workspace_id = W", 1, ['ROW_MISMATCH']],
    ['an agent', "update agents set status = 'revoked' where workspace_id = W", 5, ['ROW_MISMATCH']],
    [
      'a version of an authority',
      "update authorities set authority = '{}' where workspace_id = W and version = 1",
      4,
      ['ROW_MISMATCH'],
    ],
    [
      'the scopes of a key',
      "update api_keys set scopes = '{admin}' where workspace_id = W and kind = 'read_only'",
      6,
      ['ROW_MISMATCH'],
    ],
    [
      'the head',
      'update ledger_heads set hash = set_byte(hash, 0, (get_byte(hash, 0) + 1) % 256) where workspace_id = W',
      10,
      ['LINK_BROKEN'],
    ],
  ])('of %s', async (_name, statement, seq, kinds) => {
    await spoil(statement);
    const found = await verify();
    expect([found.valid, found.first_break_seq]).toEqual([false, seq]);
    expect([...new Set(found.breaks.map((each) => each.kind))].sort()).toEqual(kinds);
    expect(Math.max(...found.breaks.map((each) => each.seq))).toBeLessThanOrEqual(seq + 1);
  });

  test("and troubles no other workspace's history", async () => {
    const spoiled = key;
    await spoil("update decisions set merchant = 'x' where workspace_id = W");
    const other = await s.addWorkspace({ plan: 'free' });
    expect((await s.call('GET', '/v1/ledger/verify', { key: other.admin_key })).body.valid).toBe(true);
    expect((await s.call('GET', '/v1/ledger/verify', { key: spoiled })).body.valid).toBe(false);
  });
});
