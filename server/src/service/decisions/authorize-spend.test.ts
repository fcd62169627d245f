import type { Caller } from '@purser/rules/domain/keys';
import { AnswersRead, NO_ANSWERS } from '@purser/rules/domain/question-history';
import { EMPTY_DIRECTORY } from '@purser/rules/merchants/directory';
import { expect, test } from 'vitest';
import type { Assessed, CreatedDecision, KnownAuthority } from '../../engine/commands/create-decision.ts';
import { Stale } from '../../engine/lane/command.ts';
import type { Lane } from '../../engine/lane/lane.ts';
import { makeAuthorityCache } from './authority-cache.ts';
import { type AskedSpend, makeAuthorizeSpend } from './authorize-spend.ts';

const authority = (n: number): KnownAuthority => ({
  hash: `sha256:${n}`,
  authority: { purpose: { objective: `Objective ${n}` }, currency: 'EUR' },
  directory_version: 0,
  answers_version: 0,
  allowances_version: 0,
});
const assessed = ({ hash, authority }: KnownAuthority): Assessed => ({
  authority_hash: hash,
  authority,
  directory: EMPTY_DIRECTORY,
  answers: new AnswersRead(NO_ANSWERS),
  questions: [],
  assessment: { assessment: 'PURPOSE_ALIGNED', confidence: 1, method: 'test', rationale: '', evidence: [] },
});
const caller = { workspace_id: 'ws_1', kind: 'agent', agent_id: 'agt_1', key_id: 'key_1' } as Caller;
const spend: AskedSpend = {
  caller,
  request: { action: { type: 'purchase', merchant: 'Shop', amount_minor: 1, currency: 'EUR' } },
  idempotency_key: 'k',
  request_hash: Buffer.alloc(32),
  origin: {
    actor: { type: 'api_key', key_id: 'key_1', session_id: null, principal_id: null },
    request_id: null,
    client_address: null,
  },
};

/** A way of a spend whose agent's authority is the next of these at each turn of the lane. */
function wayThrough(holding: readonly KnownAuthority[]) {
  const assessed_by: (string | null)[] = [];
  const authorities = makeAuthorityCache();
  const lane = {
    submit: async (_workspace: string, _command: unknown, input: { assessed: Assessed | null }) => {
      const held = holding[Math.min(assessed_by.length, holding.length - 1)] as KnownAuthority;
      assessed_by.push(input.assessed?.authority_hash ?? null);
      if (input.assessed?.authority_hash !== held.hash) return new Stale(held);
      const decided = { decision: 'ALLOW', mode: 'SHADOW', reason_code: 'WITHIN_AUTHORITY', authority: held };
      return { replayed: false, document: '{}', decided } as CreatedDecision;
    },
  } as unknown as Lane;
  const authorizeSpend = makeAuthorizeSpend({
    lane,
    createDecision: undefined as never,
    findAgentId: async () => 'agt_1',
    authorities,
    preAssess: (_spend, known) => (known === undefined ? null : assessed(known)),
    standingOf: () => ({ version: 0, allowances: [] }),
    readChain: async () => undefined,
    countDecision: () => {},
  });
  return { authorizeSpend, assessed_by };
}

test('a spend is assessed against the authority that holds, however the remembered one was outdated', async () => {
  const [first, second] = [authority(1), authority(2)];
  const way = wayThrough([first, second]);
  expect(await way.authorizeSpend(spend)).toMatchObject({ decided: { authority: second } });
  expect(way.assessed_by).toEqual([null, first.hash, second.hash]);
});

test('an authority that changes at every attempt ends in a refusal that can be retried, never in a decision', async () => {
  const way = wayThrough([1, 2, 3, 4, 5, 6, 7].map(authority));
  await expect(way.authorizeSpend(spend)).rejects.toMatchObject({ code: 'unavailable', retry_after_s: 1 });
  expect(way.assessed_by).toHaveLength(5);
});

test('an authority that was decided by is the one that the next spend is assessed against', async () => {
  const held = authority(1);
  const way = wayThrough([held]);
  await way.authorizeSpend(spend);
  await way.authorizeSpend(spend);
  expect(way.assessed_by).toEqual([null, held.hash, held.hash]);
});
