import { randomUUID } from 'node:crypto';
import { type BrowserContext, type BrowserContextOptions, expect } from '@playwright/test';

export type Role = 'admin' | 'reviewer' | 'viewer';
type StorageState = Exclude<BrowserContextOptions['storageState'], string | undefined>;

/** A member of a workspace with a session. */
export interface Person {
  user_id: string;
  principal_id: string;
  email: string;
  name: string;
  password: string;
  session_id: string;
  /** The session's cookie for a browser. */
  state: StorageState;
  /** The session's cookie for a request. */
  cookie: string;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
type Body = any;

/** A test's own workspace, filled through the API. */
export interface Workspace {
  id: string;
  name: string;
  base_url: string;
  /** Calls the API with the workspace's admin key or another one. Throws for responses other than 2xx. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Body>;
  /** Invites a new person and accepts the invitation. */
  person(role: Role, given?: { name?: string; principal_id?: string }): Promise<Person>;
  /** Invites a person with an account and accepts the invitation. */
  join(person: Person, role: Role): Promise<void>;
  agent(given?: Record<string, unknown>): Promise<Body>;
  /** Waits for this many recorded delivery attempts, newest first. They are recorded after arrival. */
  attempts(count: number): Promise<Body[]>;
  /** Sends a payment request. */
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

/** An authority that requires review above 200.00 and denies above 500.00. */
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
/** Unique across workers and runs. */
const fresh = (word: string) => `${word}-${process.pid}-${++count}`;

/** Creates a workspace with its admin key, and the functions that fill it. */
export async function makeWorkspace(base_url: string, plan: 'free' | 'team' = 'team'): Promise<Workspace> {
  const name = fresh('Workspace');
  const made = await fetch(process.env.E2E_WORKSPACE_MAKER as string, {
    method: 'POST',
    body: JSON.stringify({ name, plan }),
  });
  const { workspace_id, admin_key } = (await made.json()) as { workspace_id: string; admin_key: string };
  const call: Workspace['call'] = async (method, path, body, headers = {}) =>
    (await send(base_url, method, path, body, { 'x-api-key': admin_key, ...headers })).body;
  const invite = async (given: Record<string, unknown>) => {
    const { url } = await call('POST', '/v1/invitations', given);
    return decodeURIComponent(new URL(url).hash.slice(1));
  };
  const accept = (body: Record<string, unknown>) =>
    send(base_url, 'POST', '/v1/auth/invitations/accept', body, {});
  return {
    id: workspace_id,
    name,
    base_url,
    call,
    async person(role, { name = 'Ada Lovelace', principal_id } = {}) {
      const email = `${fresh(role)}@example.com`;
      const token = await invite({ email, role, ...(principal_id === undefined ? {} : { principal_id }) });
      const joined = await accept({ token, name, password: PASSWORD });
      return personOf(joined, { base_url, email, name });
    },
    async join({ email, name, password }, role) {
      await accept({ token: await invite({ email, role }), name, password });
    },
    agent: (given = {}) =>
      call('POST', '/v1/agents', {
        slug: 'infra-bot',
        name: 'Infrastructure bot',
        authority: AUTHORITY,
        ...given,
      }),
    async attempts(count) {
      let data: Body[] = [];
      await expect
        .poll(async () => {
          data = (await call('GET', '/v1/webhooks/deliveries')).data;
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
      call(
        'POST',
        '/v1/decisions',
        { agent, action: { type: 'purchase', merchant, amount_minor, currency, description }, ...more },
        { 'idempotency-key': randomUUID(), ...(key === undefined ? {} : { 'x-api-key': key }) },
      ),
  };
}

type Sent = { response: Response; body: Body };

/** Sends a JSON request. Throws for responses other than 2xx. */
async function send(
  base_url: string,
  method: string,
  path: string,
  body: unknown,
  headers: Record<string, string>,
): Promise<Sent> {
  const response = await fetch(`${base_url}${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return { response, body: text === '' ? null : JSON.parse(text) };
}

/** The person who accepted an invitation, with the cookie of their new session. */
function personOf(
  { response, body }: Sent,
  { base_url, email, name }: { base_url: string; email: string; name: string },
): Person {
  const [cookie = ''] = (response.headers.get('set-cookie') ?? '').split(';');
  const at = cookie.indexOf('=');
  const in_browser = {
    name: cookie.slice(0, at),
    value: cookie.slice(at + 1),
    domain: new URL(base_url).hostname,
    path: '/',
    expires: -1,
    httpOnly: true,
    secure: false,
    sameSite: 'Strict' as const,
  };
  return {
    user_id: body.user.id,
    principal_id: body.principal_id,
    session_id: body.session.id,
    email,
    name,
    password: PASSWORD,
    cookie,
    state: { cookies: [in_browser], origins: [] },
  };
}

/** The cookie header of a browser's session, without other cookies. */
export async function sessionCookie(context: BrowserContext, base_url: string): Promise<string> {
  const cookies = await context.cookies(base_url);
  const session = cookies.find(({ name }) => /^purser_(?!device|oidc)/.test(name));
  if (session === undefined) throw new Error('the browser has no session');
  return `${session.name}=${session.value}`;
}

/** Signs a person out, as from another browser. */
export async function endSession(base_url: string, person: Pick<Person, 'cookie'>): Promise<void> {
  const response = await fetch(`${base_url}/v1/auth/sign-out`, {
    method: 'POST',
    headers: { cookie: person.cookie, origin: base_url, 'content-type': 'application/json' },
  });
  if (!response.ok) throw new Error(`sign-out: ${response.status} ${await response.text()}`);
}
