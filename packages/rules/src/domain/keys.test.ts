import { SCOPES, type Scope } from '@purser/contract/values/scopes';
import { describe, expect, test } from 'vitest';
import { type KeyKind, keyBody, keyRefusal, keyStatus, kindOfScopes } from './keys.ts';

describe('the kind of a scoped key', () => {
  test.each<[KeyKind, Scope[]]>([
    ['admin', ['admin', 'review', 'read', 'authorize']],
    ['admin', ['authorize', 'read', 'review', 'admin']],
    ['reviewer', ['review', 'read']],
    ['read_only', ['read']],
    ['payment_adapter', ['consume']],
    ['custom', ['admin']],
    ['custom', ['authorize']],
    ['custom', ['review']],
    ['custom', ['consume', 'read']],
    ['custom', ['admin', 'review', 'read', 'authorize', 'consume']],
  ])('%s: %j', (kind, scopes) => {
    expect(kindOfScopes(scopes)).toBe(kind);
  });
  test('of every other set of scopes is custom, and none is an agent’s', () => {
    const sets = Array.from({ length: 2 ** SCOPES.length }, (_, bits) =>
      SCOPES.filter((_scope, i) => (bits >> i) % 2 === 1),
    );
    const kinds = sets.map(kindOfScopes);
    expect(kinds.filter((kind) => kind === 'custom')).toHaveLength(sets.length - 4);
    expect(kinds).not.toContain('agent');
  });
});

describe('the status of a key', () => {
  const ENDS = '2026-11-21T08:15:00.000Z';
  const ends_ms = Date.parse(ENDS);
  test.each([
    ['without an end', null, null, ends_ms, 'active'],
    ['just before its end', ENDS, null, ends_ms - 1, 'active'],
    ['at its end', ENDS, null, ends_ms, 'expired'],
    ['revoked', null, '2026-01-01T00:00:00.000Z', ends_ms, 'revoked'],
    ['revoked and past its end', ENDS, '2026-01-01T00:00:00.000Z', ends_ms + 1, 'revoked'],
  ])('%s', (_name, expires_at, revoked_at, now_ms, status) => {
    expect(keyStatus({ expires_at, revoked_at }, now_ms)).toBe(status);
    const refusal = keyRefusal({ expires_at, revoked_at }, now_ms);
    if (status === 'active') expect(refusal).toBeNull();
    else if (status === 'expired') expect(refusal).toContain('expired');
    // A revoked key is told nothing that an unknown one is not.
    else expect(refusal).not.toMatch(/revoked at|expired/);
  });
});

test('a key is shown without its digest and its hint', () => {
  const shown = keyBody({
    key_id: 'key_1',
    name: 'n',
    kind: 'read_only',
    scopes: ['read'],
    agent_id: null,
    principal_id: null,
    digest: Buffer.from('secret'),
    hint: 'sk_…a1b2',
    created_at: '',
    expires_at: null,
    revoked_at: null,
    made_by_key_id: null,
    made_by_principal_id: 'user:ada',
    made_by_person: 'user:ada',
    allowance_path: [],
    maker_key_ids: [],
  });
  expect(Object.keys(shown).sort()).toEqual(
    [
      ...[
        'agent_id',
        'allowance_id',
        'created_at',
        'expires_at',
        'id',
        'kind',
        'made_by',
        'made_by_person',
        'name',
      ],
      ...['principal_id', 'scopes'],
    ].sort(),
  );
  expect(shown.made_by).toEqual({ key_id: null, principal_id: 'user:ada' });
});
