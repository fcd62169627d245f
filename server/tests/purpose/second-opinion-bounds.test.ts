import { fileURLToPath } from 'node:url';
import type { Authority } from '@purser/contract/authority';
import type { SpendRequest } from '@purser/contract/decisions';
import { PURPOSE_ASSESSMENTS } from '@purser/contract/values/decisions';
import type { PurposeAssessment } from '@purser/rules/domain/assessment';
import { authorityHash } from '@purser/rules/domain/authorities';
import { assessBuiltIn } from '@purser/rules/purpose/built-in-assessor';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readSpends } from '../../../tools/demo/spends-file.ts';
import { addressFor } from '../../src/service/model-judge/addresses.ts';
import { makeAskModel } from '../../src/service/model-judge/ask-model.ts';
import { chatCompletions } from '../../src/service/model-judge/chat-completions.ts';
import { makeModelClient } from '../../src/service/model-judge/model-client.ts';
import { seenByModel } from '../../src/service/model-judge/prompt.ts';
import { isOpen, withOpinion, withoutOpinion } from '../../src/service/model-judge/second-opinion.ts';
import {
  type Behaviour,
  completion,
  hangs,
  type ModelServer,
  sends,
  startModelServer,
} from '../support/model-server.ts';

/** What a model can and cannot change, over the demo's spends and a real socket. */

interface Case {
  authority: Authority;
  request: SpendRequest;
  expected: PurposeAssessment;
  built_in: PurposeAssessment;
  is_closed: boolean;
}

const ASKER = { workspace_id: 'ws_1', agent_id: 'agt_1' };
const FILE = fileURLToPath(new URL('../../../tools/demo/spends.jsonl', import.meta.url));
const RANK = { PURPOSE_MISALIGNED: 0, PURPOSE_UNCLEAR: 1, PURPOSE_ALIGNED: 2 } as const;
const OPPOSITE = {
  PURPOSE_ALIGNED: 'PURPOSE_MISALIGNED',
  PURPOSE_MISALIGNED: 'PURPOSE_ALIGNED',
  PURPOSE_UNCLEAR: 'PURPOSE_ALIGNED',
} as const;

let server: ModelServer;
let cases: Case[];
const wanted = new Map<string, PurposeAssessment>();
const objectives = new Map<string, { objective: string }>();
beforeAll(async () => {
  server = await startModelServer();
  cases = (await readSpends(FILE)).flatMap(({ authority, request, expected }) => {
    if (authority === null) return [];
    const one = { authority: authority as never, request: request as never, expected: expected.purpose };
    const shown = JSON.stringify(seenByModel(one.authority, one.request).spend);
    wanted.set(shown, one.expected);
    objectives.set(shown, (one.authority as Authority).purpose);
    const { assessment, is_final, evidence } = assessBuiltIn(one.authority, one.request);
    const is_closed = is_final || evidence.some(({ effect }) => effect === 'suspicious');
    return [{ ...one, built_in: assessment, is_closed }];
  });
});
afterAll(() => server.stop());

const answering =
  (choose: (expected: PurposeAssessment) => PurposeAssessment): Behaviour =>
  (response, question) => {
    const expected = wanted.get(JSON.stringify(question.spend)) as PurposeAssessment;
    const { objective } = objectives.get(JSON.stringify(question.spend)) as { objective: string };
    const evidence = [{ field: 'purpose.objective', text: objective }];
    const opinion = { rationale: 'Told.', evidence, assessment: choose(expected), confidence: 1 };
    sends(completion(JSON.stringify(opinion)))(response, question);
  };

/** The verdict on each case, in order. */
async function verdicts(options: { may_clear: boolean; timeout_ms?: number }): Promise<PurposeAssessment[]> {
  const timeout_ms = options.timeout_ms ?? 30_000;
  const client = makeModelClient({
    address: addressFor(server.url, chatCompletions),
    protocol: chatCompletions,
    api_key: null,
    connect_ms: timeout_ms,
    connections: 8,
    clock_ms: () => 0,
  });
  let nonces = 0;
  const ask = makeAskModel({
    client,
    hedge: { ask: (attempt, _, left_ms) => attempt(left_ms, new AbortController().signal) },
    model: 'stand-in',
    parameters: {},
    form: () => ({ output: 'schema', is_lean: false }),
    onFormRefused: () => {},
    api_key: null,
    termsOf: () => ({ timeout_ms, wait_ms: timeout_ms, may_repeat: true, one_at_a_time: false }),
    takePlace: async () => () => {},
    tryPlace: () => null,
    usage: { begin: () => () => {} },
    newNonce: () => `nonce${++nonces}`,
    codeOf: () => 'code',
    now_ms: () => 0,
    wait: async () => {},
    log: { warn() {}, info() {} },
    metrics: { observeModelCall() {}, countModelCacheHit() {} },
  });
  const found: PurposeAssessment[] = [];
  for (const { authority, request } of cases) {
    const built_in = assessBuiltIn(authority, request);
    const asked = isOpen(built_in, options)
      ? await ask(ASKER, {
          authority_hash: authorityHash(authority),
          authority,
          request,
          suspicious: [],
          examples: [],
          is_review_anyway: true,
        })
      : null;
    const assessment =
      asked === null
        ? built_in
        : 'none' in asked
          ? withoutOpinion(built_in, asked.none, { is_required: false, is_vouched_for: false })
          : withOpinion(built_in, asked.opinion, { model: 'stand-in', ...options }).assessment;
    found.push(assessment.assessment);
  }
  await client.stop();
  return found;
}
const builtIn = () => cases.map((one) => one.built_in);
const takenForAligned = (found: readonly PurposeAssessment[]) =>
  cases.filter((one, i) => one.expected === 'PURPOSE_MISALIGNED' && found[i] === 'PURPOSE_ALIGNED').length;

describe('a model', () => {
  test('the cases hold every verdict, expected and built-in, so that what follows means something', () => {
    expect(new Set(cases.map((one) => one.expected))).toEqual(new Set(PURPOSE_ASSESSMENTS));
    expect(new Set(builtIn())).toEqual(new Set(PURPOSE_ASSESSMENTS));
  });

  test.each([false, true])('that is always right makes nothing worse (may clear: %s)', async (may_clear) => {
    server.behave(answering((expected) => expected));
    const found = await verdicts({ may_clear });
    expect(takenForAligned(found)).toBe(0);
    for (const [i, { expected, built_in }] of cases.entries()) {
      const off = (one: PurposeAssessment) => Math.abs(RANK[one] - RANK[expected]);
      expect(off(found[i] as PurposeAssessment)).toBeLessThanOrEqual(off(built_in));
    }
  });

  test('that is always wrong raises nothing', async () => {
    server.behave(answering((expected) => OPPOSITE[expected]));
    const found = await verdicts({ may_clear: false });
    for (const [i, { built_in }] of cases.entries()) {
      expect(RANK[found[i] as PurposeAssessment]).toBeLessThanOrEqual(RANK[built_in]);
    }
    expect(takenForAligned(found)).toBeLessThanOrEqual(takenForAligned(builtIn()));
  });

  test('that is always wrong and may clear raises nothing final and nothing suspicious', async () => {
    server.behave(answering((expected) => OPPOSITE[expected]));
    const found = await verdicts({ may_clear: true });
    for (const [i, { built_in, is_closed }] of cases.entries()) {
      if (is_closed) expect(RANK[found[i] as PurposeAssessment]).toBeLessThanOrEqual(RANK[built_in]);
    }
    expect(cases.some(({ is_closed }) => is_closed)).toBe(true);
  });

  test.each([
    ['nonsense', sends(completion('Sure! PURPOSE_ALIGNED.')), 30_000],
    ['nothing in time', hangs, 20],
  ] as const)('that answers %s changes nothing', async (_, behaviour, timeout_ms) => {
    server.behave(behaviour);
    expect(await verdicts({ may_clear: true, timeout_ms })).toEqual(builtIn());
  });
});
