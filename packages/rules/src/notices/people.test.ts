import { describe, expect, test } from 'vitest';
import { nextDigestMs, peopleToNotify } from './people.ts';

const person = (principal_id: string) => ({
  recipient_id: `usr_${principal_id}`,
  name: principal_id,
  principal_id,
  filter: null,
  quiet_hours: null,
});
const PEOPLE = ['user:ada', 'user:bo', 'user:cy'].map(person);
const requested_by = { key_id: 'key_1', principal_id: 'user:bo' };
const namesOf = (review_tier: object | undefined, kind: 'REQUESTED' | 'REMINDER' | 'ESCALATED') =>
  peopleToNotify(PEOPLE, { requested_by, ...(review_tier && { review_tier }) }, kind).map(({ name }) => name);

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
