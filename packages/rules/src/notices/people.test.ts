import { describe, expect, test } from 'vitest';
import { nextDigestMs, peopleToNotify } from './people.ts';

const person = (principal_id: string) => ({
  recipient_id: `usr_${principal_id}`,
  name: principal_id,
  principal_id,
  filter: null,
  quiet_hours: null,
  stands_for: [] as { principal_id: string; until: string }[],
});
const PEOPLE = ['user:ada', 'user:bo', 'user:cy'].map(person);
const requested_by = { key_id: 'key_1', principal_id: 'user:bo' };
const created_at = '2026-11-24T08:00:00.000Z';
const namesOf = (
  review_tier: object | undefined,
  kind: 'REQUESTED' | 'REMINDER' | 'ESCALATED',
  people = PEOPLE,
) =>
  peopleToNotify(people, { requested_by, created_at, ...(review_tier && { review_tier }) }, kind).map(
    ({ name }) => name,
  );

describe('the people who get a notice of a request', () => {
  const tier = { approvers: ['user:ada', 'user:bo'], escalation: { approvers: ['user:cy'] } };
  test('are all but the requester where no tier names approvers', () => {
    for (const review_tier of [undefined, {}, { escalation: { approvers: [] } }]) {
      expect(namesOf(review_tier, 'REQUESTED')).toEqual(['user:ada', 'user:cy']);
    }
  });
  test('are the approvers of its tier, and at the escalation those of the escalation', () => {
    expect(namesOf(tier, 'REQUESTED')).toEqual(['user:ada']);
    expect(namesOf(tier, 'REMINDER')).toEqual(['user:ada']);
    expect(namesOf(tier, 'ESCALATED')).toEqual(['user:cy']);
  });
  test('are the delegates of approvers too, while these are away and unless the request is theirs', () => {
    const di = (principal_id: string, until: string) => [
      ...PEOPLE,
      { ...person('user:di'), stands_for: [{ principal_id, until }] },
    ];
    const later = '2026-11-25T08:00:00.000Z';
    expect(namesOf(tier, 'REQUESTED', di('user:ada', later))).toEqual(['user:ada', 'user:di']);
    expect(namesOf(tier, 'ESCALATED', di('user:cy', later))).toEqual(['user:cy', 'user:di']);
    expect(namesOf(tier, 'REQUESTED', di('user:cy', later)), 'of no approver').toEqual(['user:ada']);
    expect(namesOf(tier, 'REQUESTED', di('user:ada', created_at)), 'who is back').toEqual(['user:ada']);
    expect(namesOf(tier, 'REQUESTED', di('user:bo', later)), 'of the requester').toEqual(['user:ada']);
  });
});

describe('a digest is due at 08:00 on clocks of the time zone', () => {
  test.each([
    ['Europe/Berlin', '2026-11-24T06:59:59.999Z', '2026-11-24T07:00:00.000Z'],
    ['Europe/Berlin', '2026-11-24T07:00:00.000Z', '2026-11-25T07:00:00.000Z'],
    ['Europe/Berlin', '2026-03-28T12:00:00.000Z', '2026-03-29T06:00:00.000Z'],
    ['Europe/Berlin', '2026-10-24T12:00:00.000Z', '2026-10-25T07:00:00.000Z'],
    ['America/Los_Angeles', '2026-11-24T06:00:00.000Z', '2026-11-24T16:00:00.000Z'],
    ['Pacific/Kiritimati', '2026-11-24T17:00:00.000Z', '2026-11-24T18:00:00.000Z'],
    ['Asia/Kathmandu', '2026-11-24T00:00:00.000Z', '2026-11-24T02:15:00.000Z'],
  ])('%s after %s', (time_zone, now, next) => {
    expect(new Date(nextDigestMs(time_zone, Date.parse(now))).toISOString()).toBe(next);
  });
});
