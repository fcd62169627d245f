import { expect } from 'vitest';
import { type Browser, openBrowser, PASSWORD, setUp } from './browser.ts';
import { AUTHORITY, freshKey, makeKey, type RunningService, spend } from './running-service.ts';

/** A member who is signed in. */
export interface TeamMember {
  browser: Browser;
  user_id: string;
  principal_id: string;
}

/** The people of a test's workspace: Ada, its first administrator, and those who join. */
export async function makeTeam(s: RunningService) {
  const ada = await setUp(s);
  const me = (await ada.call('GET', '/v1/me')).body;

  const team = {
    ada: { browser: ada, user_id: me.user.id, principal_id: me.principal_id } as TeamMember,

    /** Has somebody new join by an invitation, as `user:NAME`. */
    async join(name: string, role = 'reviewer'): Promise<TeamMember> {
      const email = `${name}@example.com`;
      const invited = await ada.call('POST', '/v1/invitations', {
        body: { email, role, principal_id: `user:${name}` },
      });
      const token = invited.body.url.split('#')[1];
      const browser = openBrowser(s);
      const reply = await browser.call('POST', '/v1/auth/invitations/accept', {
        body: { token, name, password: PASSWORD },
      });
      expect(reply.status, reply.text).toBe(201);
      return { browser, user_id: reply.body.user.id, principal_id: reply.body.principal_id };
    },

    /** Puts a review policy, as Ada; returns the reply. */
    put: (policy: object, more: { hash?: string; note?: string } = {}) =>
      ada.call('PUT', '/v1/review-policy', {
        body: { policy, ...(more.note === undefined ? {} : { note: more.note }) },
        ...(more.hash === undefined ? {} : { headers: { 'if-match': `"${more.hash}"` } }),
      }),

    /** An agent whose spends of more than EUR 0.01 all wait for a review, with a key of its own that the operator made. */
    async agent(authority: object = {}, mode = 'ENFORCE') {
      const slug = freshKey().toLowerCase();
      const given = { ...AUTHORITY, review_threshold_minor: 1, ...authority };
      await s.call('POST', '/v1/agents', { body: { slug, mode, authority: given } });
      return { slug, key: (await makeKey(s, { agent_id: slug })).key };
    },

    /** Requests a spend, which has to become a REVIEW. */
    async request(agent: { slug: string; key: string }, amount_minor: number) {
      const reply = await s.call('POST', '/v1/decisions', {
        key: agent.key,
        body: spend(agent.slug, amount_minor),
        idempotency_key: freshKey(),
      });
      expect(reply.body.decision, reply.text).toBe('REVIEW');
      return reply.body;
    },

    /** Reviews a decision as a signed-in member, or with a key. */
    review(by: TeamMember | string, decision_id: string, action = 'ALLOW') {
      const path = `/v1/decisions/${decision_id}/reviews`;
      const body = { action, reason_code: 'CHECKED' };
      return typeof by === 'string'
        ? s.call('POST', path, { key: by, body })
        : by.browser.call('POST', path, { body });
    },

    /** Makes a key as a member. */
    async keyOf(member: TeamMember, body: object): Promise<{ id: string; key: string }> {
      const reply = await member.browser.call('POST', '/v1/api-keys', { body: { name: 'k', ...body } });
      expect(reply.status, reply.text).toBe(201);
      return reply.body;
    },

    get: async (decision_id: string) => (await s.call('GET', `/v1/decisions/${decision_id}`)).body,
  };
  return team;
}

export type Team = Awaited<ReturnType<typeof makeTeam>>;
