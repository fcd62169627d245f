import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type AllowCase, type Approver, type GivenApproval, mayDecide, placeOf } from './places.ts';

const PEOPLE = ['user:ada', 'user:bo', 'user:cy', 'user:di'];
const person = fc.constantFrom(...PEOPLE);

/** A person, one of their keys with a principal of its own or none, or a key in a colleague's name. */
const approver: fc.Arbitrary<Approver> = fc
  .record({ voice: person, as: fc.constantFrom('self', 'robot', 'nobody', 'colleague'), colleague: person })
  .map(({ voice, as, colleague }) => ({
    voice,
    principal_id:
      as === 'self' ? voice : as === 'robot' ? `${voice}-robot` : as === 'nobody' ? null : colleague,
    has_foreign_principal: as === 'colleague' && colleague !== voice,
  }));

const settings = fc.record({
  approvals: fc.integer({ min: 2, max: 3 }),
  approvers: fc.uniqueArray(person, { minLength: 3 }),
  escalated: fc.uniqueArray(person, { minLength: 1 }),
  requester: person,
  limits: fc.array(
    fc.record({ approver: person, currency: fc.constantFrom('EUR', 'USD'), max_minor: fc.nat(200) }),
    { maxLength: 3 },
  ),
  steps: fc.array(
    fc.record({
      approver,
      is_escalated: fc.boolean(),
      absent: fc.array(fc.record({ principal_id: person, delegate: person }), { maxLength: 3 }),
    }),
    { maxLength: 20 },
  ),
});

test('whatever reviewers, keys and delegates do, each voice and each place counts once, within limits', () => {
  fc.assert(
    fc.property(settings, ({ approvals, approvers, escalated, requester, limits, steps }) => {
      const tier = {
        from_minor: 0,
        approvals,
        approvers,
        escalation: { after_seconds: 60, approvers: escalated },
      };
      const given: GivenApproval[] = [];
      for (const step of steps) {
        const about: AllowCase = {
          tier,
          given,
          requester: [null, requester],
          limits,
          held_minor: 100,
          currency: 'EUR',
          ...step,
        };
        const place = placeOf(about);
        if (!place.ok) continue;
        const { principal_id, voice } = step.approver;
        const { on_behalf_of } = place;
        const own =
          step.approver.has_foreign_principal || principal_id === null ? [voice] : [principal_id, voice];
        const counting = step.is_escalated ? [...approvers, ...escalated] : approvers;
        const used = on_behalf_of === null ? own : [on_behalf_of];
        expect(used.some((each) => counting.includes(each))).toBe(true);
        if (on_behalf_of !== null) {
          expect(on_behalf_of).not.toBe(requester);
          expect(step.absent.some((a) => a.principal_id === on_behalf_of && own.includes(a.delegate))).toBe(
            true,
          );
        }
        for (const name of [voice, ...(on_behalf_of === null ? [] : [on_behalf_of])]) {
          const bound = limits.filter((limit) => limit.approver === name);
          if (bound.length > 0)
            expect(bound.some(({ currency, max_minor }) => currency === 'EUR' && max_minor >= 100)).toBe(
              true,
            );
        }
        given.push({ principal_id, on_behalf_of, voice });
      }
      const voices = given.map(({ voice }) => voice);
      expect(new Set(voices).size).toBe(voices.length);
      const lent = given.flatMap(({ on_behalf_of }) => on_behalf_of ?? []);
      expect(new Set(lent).size).toBe(lent.length);
      const own = given.flatMap((each) => (each.on_behalf_of === null ? each.voice : []));
      expect(own.some((each) => each !== null && lent.includes(each))).toBe(false);
    }),
  );
});

test('the people who may decide are the approvers whose approval would count now', () => {
  const decision = {
    review_tier: {
      from_minor: 0,
      approvals: 2,
      approvers: ['user:ada', 'user:bo'],
      escalation: { after_seconds: 60, approvers: ['user:cy'] },
    },
    created_at: '2026-11-24T08:00:00.000Z',
    currency: 'EUR',
    reservation: { amount_minor: 100 } as never,
    requested_by: { principal_id: null },
  };
  const members = PEOPLE.map((principal_id) => ({ principal_id, away_until: null, away_delegate: null }));
  const pending = { decision, requester_voice: 'user:bo', given: [], limits: [] };
  const at = (seconds: number, all: typeof members = members) =>
    mayDecide(pending, all, Date.parse(decision.created_at) + seconds * 1_000);
  expect(at(0)).toEqual(['user:ada']);
  expect(at(60)).toEqual(['user:ada', 'user:cy']);
  const away = { away_until: '2026-11-25T08:00:00.000Z', away_delegate: 'user:di' };
  const absent = members.map((each) => (each.principal_id === 'user:ada' ? { ...each, ...away } : each));
  expect(at(0, absent as never)).toEqual(['user:ada', 'user:di']);
});
