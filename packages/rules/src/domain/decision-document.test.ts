import { expect, test } from 'vitest';
import { EMPTY_DIRECTORY } from '../merchants/directory.ts';
import { decide } from '../policy/decide.ts';
import type { Capability } from './capabilities.ts';
import {
  CORE_MARKS,
  capabilityIdIn,
  composeDecision,
  decodeDecision,
  encodeDecision,
  requestIdIn,
  withToken,
} from './decision-document.ts';
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

function made(given: { capability: Capability | null; request_id?: string }) {
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
      status: 'active',
      created_at: '2026-11-22T08:00:00.000Z',
      updated_at: '2026-11-22T08:00:00.000Z',
    },
    request,
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
    reservation: noReservation('EUR', '2026-11', budget, null),
    capability: given.capability,
    created_at: '2026-11-22T08:00:00.000Z',
    requested_by: { key_id: 'key_01K9ZZZZZZZZZZZZZZZZZZZZZZ', principal_id: null },
    request_id: given.request_id ?? null,
  });
}

test('the token goes into the capability that was issued, whatever words the agent wrote', () => {
  const decision = made({ capability });
  const document = encodeDecision(decision);
  expect(capabilityIdIn(document)).toBe(CAPABILITY_ID);
  expect(JSON.parse(withToken(document, 'cap_token'))).toEqual({
    ...decision,
    capability: { token: 'cap_token', ...capability },
  });
});

test('a document without a capability names none, whatever words the agent wrote', () => {
  expect(capabilityIdIn(encodeDecision(made({ capability: null })))).toBeUndefined();
});

test('the request that made a document is found, whatever words the agent wrote, and none in one that has none', () => {
  const of = (request_id?: string) =>
    requestIdIn(encodeDecision(made({ capability, ...(request_id && { request_id }) })));
  expect([of('sdk_1'), of('a/b:c=d@e.f-g+h_i'), of()]).toEqual(['sdk_1', 'a/b:c=d@e.f-g+h_i', undefined]);
  expect(of('x'.repeat(128))).toBe('x'.repeat(128));
});

test('a document cut at its marks still holds everything that the rules about later states read', () => {
  const decision = made({ capability });
  const document = encodeDecision(decision);
  const [head, core, told] = [CORE_MARKS.head, CORE_MARKS.core, CORE_MARKS.told].map((mark) =>
    document.indexOf(mark),
  ) as [number, number, number];
  expect(0 < head && head < core && core < told).toBe(true);
  const cut = decodeDecision(`${document.slice(0, head)}${document.slice(core, told)}}`);
  const core_fields: (keyof DecisionCore)[] = [
    'decision_id',
    'decision',
    'review_state',
    'authorized_amount_minor',
    'currency',
    'mode',
    'authority_version',
    'reservation',
    'capability',
    'agent',
    'action',
  ];
  for (const field of core_fields) expect(cut[field]).toEqual(decision[field]);
});
