import type { Decision } from '@purser/contract/decisions';
import type { Capability } from '@purser/contract/records';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EMPTY_DIRECTORY } from '../merchants/directory.ts';
import { decide } from '../policy/decide.ts';
import {
  actionIn,
  assessmentIn,
  composeDecision,
  DOCUMENT_MARKS,
  decodeCore,
  decodeDecision,
  encodeDecision,
  lengthOfCore,
  taskIn,
  withLiveFields,
  withToken,
} from './decision-document.ts';
import type { LiveFields } from './decision-states.ts';
import type { DecisionCore } from './decisions.ts';
import { noReservation } from './reservations.ts';

const CAPABILITY_ID = 'cap_01K9ZZZZZZZZZZZZZZZZZZZZZZ';
/** Words that try to look like the marks and fields that readers of the text go by. */
const HOSTILE = '","capability":{"capability_id":"cap_00000000000000000000000000"},"task":"x","reservation":';

const capability: Capability = {
  capability_id: CAPABILITY_ID,
  status: 'ISSUED',
  max_amount_minor: 100,
  currency: 'EUR',
  merchant: HOSTILE,
  payee_id: null,
  issued_at: '2026-11-22T08:00:00.000Z',
  expires_at: '2026-11-22T08:15:00.000Z',
  consumed_at: null,
};

function made(given: { capability: Capability | null }) {
  const request = {
    action: { type: 'purchase', merchant: HOSTILE, amount_minor: 100, currency: 'EUR', description: HOSTILE },
    task: HOSTILE,
    context: { capability: HOSTILE, [HOSTILE]: 1 },
  };
  const budget = { held_minor: 0, committed_minor: 0 };
  return composeDecision({
    decision_id: 'dec_01K9ZZZZZZZZZZZZZZZZZZZZZZ',
    agent: {
      agent_id: 'agt_01K9ZZZZZZZZZZZZZZZZZZZZZZ',
      slug: 'buyer',
      name: HOSTILE,
      mode: 'ENFORCE',
      authority_version: null,
      authority_hash: null,
      directory_version: 0,
      answers_version: 0,
      allowances_version: 0,
      status: 'active',
      created_at: '2026-11-22T08:00:00.000Z',
      updated_at: '2026-11-22T08:00:00.000Z',
    },
    request,
    review_terms: {
      review_tier: { from_minor: 0, approvals: 2, approvers: ['user:"capability":'] },
      review_policy_version: 3,
    },
    verdict: decide({
      authority: null,
      request,
      directory: EMPTY_DIRECTORY,
      budget,
      assessment: null,
      is_known_merchant: false,
      now_ms: 0,
    }),
    remedies: [],
    authority: null,
    directory_version: 3,
    questions: [],
    allowance: null,
    reservation: noReservation('EUR', '2026-11', budget, null),
    capability: given.capability,
    created_at: '2026-11-22T08:00:00.000Z',
    requested_by: { key_id: 'key_01K9ZZZZZZZZZZZZZZZZZZZZZZ', principal_id: null },
    request_id: null,
  });
}

/** Cuts as the SQL of `storage/decisions.ts` does: `split_part` counts from 1, and is empty where there is no such part. */
const part = (text: string, mark: string, n: number) => text.split(mark)[n - 1] ?? '';
const { assessment, action, task, trace } = DOCUMENT_MARKS;

test('the token goes into the capability that was issued, whatever words the agent wrote', () => {
  const decision = made({ capability });
  const { document, live_at } = encodeDecision(decision);
  const expected = JSON.stringify({ ...decision, capability: { token: 'cap_token', ...capability } });
  expect(withToken({ document, live_at }, 'cap_token')).toBe(expected);
  expect(withToken({ document, live_at: null }, 'cap_token')).toBe(expected);
});

test('the document is what JSON.stringify writes, and its core is read without the rest', () => {
  const decision = made({ capability });
  const { document, live_at } = encodeDecision(decision);
  expect(document).toBe(JSON.stringify(decision));
  const row = { document, core: null, live_at };
  const read = decodeCore(row) as DecisionCore;
  expect(decision).toMatchObject(read);
  expect(Object.keys(read)).toEqual(expect.arrayContaining(Object.keys(coreFields(decision))));
  // In rows that were written while it was a column, and in those before.
  expect(decodeCore({ document, core: JSON.stringify(read), live_at: live_at.slice(0, 18) })).toEqual(read);
  expect(decodeCore({ document, core: null, live_at: null })).toEqual(decision);
  expect(lengthOfCore(row)).toBeLessThan(document.length / 2);
  // Other values may be in another place, but they are no JSON.
  for (const altered of [live_at.map((at) => at + 1), live_at.slice(0, -1), []])
    expect(decodeCore({ ...row, live_at: altered }) ?? {}).not.toHaveProperty('action');
  expect(decodeCore({ ...row, document: document.replace('{', '') })).toBeNull();
});

test('a decision with other live fields is the same text, however it is written', () => {
  const words = fc.oneof(fc.constant(HOSTILE), fc.string({ unit: 'binary' }), fc.constant('é — 日本 🧾'));
  const amount = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
  const changed = fc.record({
    effective_decision: fc.constantFrom('ALLOW', 'DENY', 'REVIEW'),
    review_state: fc.constantFrom(null, 'PENDING', 'ALLOWED'),
    authorized_amount_minor: amount,
    reservation: fc.record({ status: words, amount_minor: amount }),
    capability: fc.option(fc.record({ status: words, merchant: words, consumption: words })),
    review: fc.option(fc.record({ comment: words })),
    label: fc.option(fc.record({ note: words })),
    outcome_state: words,
    verified: fc.boolean(),
  });
  const original = made({ capability });
  const progress = fc.option(fc.record({ required: amount, given: fc.array(fc.record({ by: words })) }));
  fc.assert(
    fc.property(words, fc.jsonValue(), changed, progress, (said, context, fields, review_progress) => {
      const decision = { ...original, task: said, context, explanation: said } as Decision;
      const live = {
        ...fields,
        ...(review_progress === null ? {} : { review_progress }),
      } as unknown as LiveFields;
      const { document, live_at } = encodeDecision(decision);
      const text = withLiveFields({ document, live_at }, live);
      expect(text).toBe(JSON.stringify({ ...decision, ...live }));
      // As rows that are older than the positions are shown.
      expect(text).toBe(JSON.stringify({ ...decodeDecision(document), ...live }));
    }),
  );
});

test('the action, the task and the assessment are found, whatever words the agent wrote', () => {
  const decision = made({ capability });
  const { document } = encodeDecision(decision);
  expect(actionIn(part(part(document, action, 2), task, 1))).toEqual(decision.action);
  expect(taskIn(part(part(document, task, 2), trace, 1))).toBe(decision.task);
  expect(assessmentIn(document.slice(document.indexOf(assessment)).slice(0, 60))).toBe(
    decision.purpose.assessment,
  );
});

test('a text that was cut where no mark is gives nothing', () => {
  for (const text of ['', '{', '{"decision_id":"dec_1"', 'null]']) {
    expect(actionIn(text)).toEqual({});
    expect(taskIn(text)).toBeNull();
    expect(assessmentIn(text)).toBeNull();
  }
  expect(assessmentIn(null)).toBeNull();
});

function coreFields(decision: Decision): DecisionCore {
  const { decision_id, review_state, authorized_amount_minor, currency, mode, authority_version } = decision;
  const { reservation, capability: issued, agent, action: asked, created_at } = decision;
  return {
    decision_id,
    decision: decision.decision,
    review_state,
    authorized_amount_minor,
    currency,
    mode,
    authority_version,
    reservation,
    capability: issued,
    agent,
    action: asked,
    created_at,
  };
}
