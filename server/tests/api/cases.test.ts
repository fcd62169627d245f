import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Authority } from '@purser/contract/authority';
import type { SpendRequest } from '@purser/contract/decisions';
import { EMPTY_DIRECTORY } from '@purser/rules/merchants/directory';
import { decide } from '@purser/rules/policy/decide';
import { assessBuiltIn } from '@purser/rules/purpose/built-in-assessor';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import {
  AUTHORITY,
  freshKey,
  type RunningService,
  spend,
  startTestService,
} from '../support/running-service.ts';

/** Behaviour as case files: each is what `decide` says, and what the service says over HTTP in both modes. */
interface Case {
  name: string;
  /** Beside purpose and currency; null: the agent has none. */
  authority?: Partial<Authority> | null;
  /** What the month holds already. Minor units. */
  earlier?: { held: number; committed: number };
  amount: number;
  currency?: string;
  merchant?: string;
  request?: { limitable?: boolean; min_amount_minor?: number };
  expect: { decision: string; reasons: string[]; authorized: number; held: number };
  /** False: the purpose may add reasons of its own. */
  only_reasons?: false;
  stages?: Record<string, string>;
}

const FOLDER = fileURLToPath(new URL('../../cases/', import.meta.url));
/** Without the golden file of sentences. */
const FILES = readdirSync(FOLDER).filter((file) => file.endsWith('.yaml') && file !== 'sentences.yaml');
const casesOf = (file: string) => parse(readFileSync(FOLDER + file, 'utf8')) as Case[];

let s: RunningService;
beforeAll(async () => {
  s = await startTestService({ plan: 'enterprise' });
});
afterAll(() => s.stop());

const bodyOf = (given: Case, agent?: string) => {
  const { amount, merchant, currency, request } = given;
  const action = { ...(merchant && { merchant }), ...(currency && { currency }) };
  return spend(agent, amount, { action, ...request });
};

/** What is compared, of a verdict or of an answer. */
function told(
  given: Case,
  found: { reason_codes: string[]; policy_trace: { stage: string; outcome: string }[] },
) {
  const codes = found.reason_codes;
  const stages = Object.fromEntries(found.policy_trace.map(({ stage, outcome }) => [stage, outcome]));
  return {
    reasons: given.only_reasons === false ? codes.slice(0, given.expect.reasons.length) : codes,
    stages: Object.fromEntries(Object.keys(given.stages ?? {}).map((stage) => [stage, stages[stage]])),
  };
}

async function overHttp(given: Case, mode: 'SHADOW' | 'ENFORCE') {
  const slug = freshKey();
  const { earlier = { held: 0, committed: 0 }, authority } = given;
  await s.call('POST', '/v1/agents', {
    body: { slug, mode, ...(authority === null ? {} : { authority: AUTHORITY }) },
  });
  const ask = async (body: object) => {
    const reply = await s.call('POST', '/v1/decisions', { body, idempotency_key: freshKey() });
    expect(reply.status).toBe(201);
    return reply.body;
  };
  if (earlier.held > 0) expect((await ask(spend(slug, earlier.held))).decision).toBe('ALLOW');
  if (earlier.committed > 0) {
    const { decision_id } = await ask(spend(slug, earlier.committed));
    const body = { type: 'SPEND_EXECUTED', amount_minor: earlier.committed };
    expect((await s.call('POST', `/v1/decisions/${decision_id}/outcomes`, { body })).status).toBe(201);
  }
  if (authority !== null) {
    await s.call('POST', `/v1/agents/${slug}/authority`, { body: { ...AUTHORITY, ...authority } });
  }
  return ask(bodyOf(given, slug));
}

describe.each(FILES)('%s', (file) => {
  test.each(casesOf(file).map((given) => [given.name, given] as const))('%s', async (_name, given) => {
    const { decision, reasons, authorized, held } = given.expect;
    const expected = { reasons, stages: given.stages ?? {} };
    const { earlier = { held: 0, committed: 0 } } = given;
    const authority = given.authority === null ? null : { ...AUTHORITY, ...given.authority };
    const request = bodyOf(given) as unknown as SpendRequest;
    const verdictAt = (now_ms: number) =>
      decide({
        authority,
        request,
        directory: EMPTY_DIRECTORY,
        budget: { held_minor: earlier.held, committed_minor: earlier.committed },
        assessment: authority === null ? null : assessBuiltIn(authority, request),
        is_known_merchant: false,
        now_ms,
      });
    const verdict = verdictAt(0);
    expect([verdict.decision, verdict.authorized_amount_minor, verdict.held_amount_minor]).toEqual([
      decision,
      authorized,
      held,
    ]);
    expect(told(given, verdict)).toEqual(expected);
    for (const mode of ['SHADOW', 'ENFORCE'] as const) {
      const made = await overHttp(given, mode);
      expect(told(given, made)).toEqual(expected);
      expect(made).toMatchObject({
        decision,
        effective_decision: mode === 'SHADOW' ? 'ALLOW' : decision,
        authorized_amount_minor: authorized,
        review_state: decision === 'REVIEW' ? 'PENDING' : null,
        explanation: verdictAt(Date.parse(made.created_at)).explanation,
        reservation: {
          status: held > 0 ? 'HELD' : 'NONE',
          amount_minor: held,
          budget: { committed_minor: given.currency === undefined ? earlier.committed : 0 },
        },
      });
      expect(made.capability === null).toBe(mode === 'SHADOW' || decision !== 'ALLOW');
    }
  });
});

test('no case is written twice', () => {
  const names = FILES.flatMap((file) => casesOf(file).map((given) => given.name));
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeGreaterThan(25);
});
