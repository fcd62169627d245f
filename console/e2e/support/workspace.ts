import { randomUUID } from 'node:crypto';
import { type BrowserContext, type BrowserContextOptions, expect } from '@playwright/test';

export type Role = 'admin' | 'reviewer' | 'viewer';
type StorageState = Exclude<BrowserContextOptions['storageState'], string | undefined>;

/** Somebody who is a member of a workspace, with a session. */
export interface Person {
  user_id: string;
  principal_id: string;
  email: string;
  name: string;
  password: string;
  session_id: string;
  /** The session's cookie, as a browser gets it. */
  state: StorageState;
  /** The same for a request. */
  cookie: string;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
type Body = any;

/** A workspace of a test's own, with what fills it. Everything goes through the API. */
export interface Workspace {
  id: string;
  name: string;
  base_url: string;
  /** Calls the API with the workspace's admin key, or another; throws for what is not 2xx. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Body>;
  /** Invites somebody, who joins. */
  person(role: Role, given?: { name?: string; principal_id?: string }): Promise<Person>;
  /** Invites somebody who has an account already, who joins. */
  join(person: Person, role: Role): Promise<void>;
  agent(given?: Record<string, unknown>): Promise<Body>;
  /** Waits until so many attempts to deliver webhooks were recorded, which is after they arrived; newest first. */
  attempts(count: number): Promise<Body[]>;
  /** Asks for a spend. */
  spend(given?: Spend): Promise<Body>;
}

export interface Spend {
  agent?: string;
  merchant?: string;
  amount_minor?: number;
  currency?: string;
  description?: string;
  key?: string;
  more?: Record<string, unknown>;
}

export const PASSWORD = 'a violet sails north again';

/** An authority under which more than 200.00 has to be reviewed, and more than 500.00 is refused. */
export const AUTHORITY = {
  purpose: {
    objective: 'Keep the staging servers and their monitoring running',
    constraints: ['No gift cards'],
  },
  currency: 'EUR',
  per_transaction_limit_minor: 50_000,
  review_threshold_minor: 20_000,
  monthly_budget_minor: 1_000_000,
};

let count = 0;
/** Different in every worker and every run. */
const fresh = (word: string) => `${word}-${process.pid}-${++count}`;

export async function makeWorkspace(base_url: string, plan: 'free' | 'team' = 'team'): Promise<Workspace> {
  const name = fresh('Workspace');
  const made = await fetch(process.env.E2E_WORKSPACE_MAKER as string, {
    method: 'POST',
    body: JSON.stringify({ name, plan }),
  });
  const { workspace_id, admin_key } = (await made.json()) as { workspace_id: string; admin_key: string };
  const send = async (method: string, path: string, body: unknown, headers: Record<string, string>) => {
    const response = await fetch(`${base_url}${path}`, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return { response, body: text === '' ? null : JSON.parse(text) };
  };
  const workspace: Workspace = {
    id: workspace_id,
    name,
    base_url,
    async call(method, path, body, headers = {}) {
      return (await send(method, path, body, { 'x-api-key': admin_key, ...headers })).body;
    },
    async person(role, { name = 'Ada Lovelace', principal_id } = {}) {
      const email = `${fresh(role)}@example.com`;
      const invited = await workspace.call('POST', '/v1/invitations', {
        email,
        role,
        ...(principal_id === undefined ? {} : { principal_id }),
      });
      const token = decodeURIComponent(new URL(invited.url).hash.slice(1));
      const joined = await send(
        'POST',
        '/v1/auth/invitations/accept',
        { token, name, password: PASSWORD },
        {},
      );
      const [cookie = ''] = (joined.response.headers.get('set-cookie') ?? '').split(';');
      const at = cookie.indexOf('=');
      const { hostname } = new URL(base_url);
      return {
        user_id: joined.body.user.id,
        principal_id: joined.body.principal_id,
        session_id: joined.body.session.id,
        email,
        name,
        password: PASSWORD,
        cookie,
        state: {
          cookies: [
            {
              name: cookie.slice(0, at),
              value: cookie.slice(at + 1),
              domain: hostname,
              path: '/',
              expires: -1,
              httpOnly: true,
              secure: false,
              sameSite: 'Strict',
            },
          ],
          origins: [],
        },
      };
    },
    async join({ email, name, password }, role) {
      const invited = await workspace.call('POST', '/v1/invitations', { email, role });
      const token = decodeURIComponent(new URL(invited.url).hash.slice(1));
      await send('POST', '/v1/auth/invitations/accept', { token, name, password }, {});
    },
    agent: (given = {}) =>
      workspace.call('POST', '/v1/agents', {
        slug: 'infra-bot',
        name: 'Infrastructure bot',
        authority: AUTHORITY,
        ...given,
      }),
    async attempts(count) {
      let data: Body[] = [];
      await expect
        .poll(async () => {
          data = (await workspace.call('GET', '/v1/webhooks/deliveries')).data;
          return data.length;
        })
        .toBeGreaterThanOrEqual(count);
      return data;
    },
    spend: ({
      agent = 'infra-bot',
      merchant = 'Hetzner Online',
      amount_minor = 5440,
      currency = 'EUR',
      description = 'Server for staging',
      key,
      more = {},
    } = {}) =>
      workspace.call(
        'POST',
        '/v1/decisions',
        { agent, action: { type: 'purchase', merchant, amount_minor, currency, description }, ...more },
        { 'idempotency-key': randomUUID(), ...(key === undefined ? {} : { 'x-api-key': key }) },
      ),
  };
  return workspace;
}

/** The header of a browser's session at the service, without its other cookies. */
export async function sessionCookie(context: BrowserContext, base_url: string): Promise<string> {
  const cookies = await context.cookies(base_url);
  const session = cookies.find(({ name }) => /^purser_(?!device|oidc)/.test(name));
  if (session === undefined) throw new Error('the browser has no session');
  return `${session.name}=${session.value}`;
}

/** Ends a session as its own person would elsewhere. */
export async function endSession(base_url: string, person: Pick<Person, 'cookie'>): Promise<void> {
  const response = await fetch(`${base_url}/v1/auth/sign-out`, {
    method: 'POST',
    headers: { cookie: person.cookie, origin: base_url, 'content-type': 'application/json' },
  });
  if (!response.ok) throw new Error(`sign-out: ${response.status} ${await response.text()}`);
}
