import { describe, expect } from 'vitest';
import { makePeopleServices, makePersonRoutes } from '../../src/service/api/routes.ts';
import { readConfig } from '../../src/service/config/config.ts';
import { mayNeedProof } from '../../src/service/http/access.ts';
import { makeOwnLimiter } from '../../src/service/http/limiters.ts';
import { type Browser, PASSWORD, setUp, signIn } from '../support/browser.ts';
import { caseOf, makeWorld, nameOf, ROUTES, type World } from '../support/every-route.ts';
import { ON_CITUS, superuserConnection } from '../support/postgres.ts';
import { AUTHORITY, freshKey, makeTestCore, refusal } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

/** The changes by an administrator that need no fresh proof, each with the reason. */
const FREE: Record<string, string> = {
  'DELETE /v1/api-keys/:id': 'only stops',
  'POST /v1/allowances/:id/revoke': 'only stops',
  'DELETE /v1/allowance-issuers/:id': 'only stops',
  'POST /v1/workspace/stop': 'only stops',
  'DELETE /v1/invitations/:id': 'only stops',
  'DELETE /v1/decisions/:id/links/:link_id': 'only stops',
  'POST /v1/imports/detect': 'saves nothing',
  'POST /v1/imports': 'adds lines, which decide nothing',
  'PUT /v1/imports/:id/content': 'adds lines, which decide nothing',
  'POST /v1/authority/test': 'saves nothing',
  'POST /v1/workspace/sample': 'invents data in a workspace of its own',
  'DELETE /v1/workspace/sample': 'removes invented data and nothing else',
  'POST /v1/agents/:id/authority/simulate': 'saves nothing',
};

/** The statuses of changes that only people can make. On Citus there are no new samples. */
const BY_PEOPLE: Record<string, number> = { 'POST /v1/workspace/sample': ON_CITUS ? 409 : 201 };

/** Changes whose body decides: `free` bodies need no proof, `weighing` ones do. */
const BY_BODY: Record<string, { path: (world: World) => string; free: object[]; weighing: object[] }> = {
  'POST /v1/agents': {
    path: () => '/v1/agents',
    free: [{}, { mode: 'SHADOW' }],
    weighing: [{ mode: 'ENFORCE' }, { authority: AUTHORITY }],
  },
  'PATCH /v1/agents/:id': {
    path: ({ slug }) => `/v1/agents/${slug}`,
    free: [{ name: 'Renamed' }, { status: 'paused' }],
    weighing: [
      { mode: 'SHADOW' },
      { mode: 'ENFORCE' },
      { status: 'active' },
      { status: 'paused', mode: 'SHADOW' },
    ],
  },
  'POST /v1/api-keys': {
    path: () => '/v1/api-keys',
    free: [{ name: 'k', scopes: ['read'] }],
    weighing: [
      ...['authorize', 'admin', 'review', 'consume'].map((scope) => ({ name: 'k', scopes: ['read', scope] })),
      { name: 'k', agent_id: 'nobody' },
    ],
  },
  'PATCH /v1/workspace': {
    path: () => '/v1/workspace',
    free: [{ name: 'Renamed' }, { time_zone: 'Europe/Berlin' }],
    weighing: [{ mode: 'ENFORCE' }, { mode: 'SHADOW' }, { separation_of_duties: 'REQUESTER' }],
  },
  'PATCH /v1/budgets/:id': {
    path: () => '/v1/budgets/shared',
    free: [{ name: 'Renamed' }, { status: 'frozen' }],
    weighing: [{ status: 'active' }, { limit_minor: 1 }, { status: 'frozen', limit_minor: 1_000_000 }],
  },
};

/** Changes of people to their own accounts: true if a fresh proof is needed, otherwise the reason why not. */
const OF_SESSIONS: Record<string, true | string> = {
  'DELETE /v1/auth/password': true,
  'POST /v1/auth/passkey/register/options': true,
  'POST /v1/auth/passkey/register/verify': true,
  'DELETE /v1/me/passkeys/:id': true,
  'POST /v1/auth/password': 'takes the password',
  'POST /v1/auth/reauthenticate': 'is the proof',
  'POST /v1/auth/sign-out': 'only stops',
  'PATCH /v1/me': 'renames',
  'PUT /v1/me/notifications': 'changes what they are mailed, and no right',
  'POST /v1/me/workspace': 'changes nothing but the view',
  'POST /v1/me/workspaces/:id/accept': 'takes what an administrator gave',
  'DELETE /v1/me/workspaces/:id': 'only narrows',
  'PUT /v1/me/away': 'lends a place to a member who may review anyway, and is audited',
  'DELETE /v1/me/away': 'only narrows',
  'POST /v1/me/slack': true,
  'POST /v1/me/slack/code': 'shows whose account a code links',
  'DELETE /v1/me/slack': 'only narrows',
  'POST /v1/me/signing-keys/options': true,
  'POST /v1/me/signing-keys': true,
  'DELETE /v1/signing-keys/:id': true,
  'POST /v1/signing-keys/:id/endorse/options': 'is harmless',
  'POST /v1/signing-keys/:id/endorse': 'takes a signature',
  'POST /v1/decisions/:id/reviews/statement': 'is harmless',
  'POST /v1/review-policy/statement': 'is harmless',
  'DELETE /v1/me/sessions': 'only stops',
  'DELETE /v1/me/sessions/:id': 'only stops',
};

const { test, s } = serviceTest({ plan: 'enterprise' });
let ada: Browser;
let world: World;
test.beforeAll(async () => {
  ada = await setUp(s);
  world = await makeWorld(s, { workspace_id: s.workspace_id, admin_key: s.admin_key });
  await s.call('POST', '/v1/budgets', {
    body: { slug: 'shared', currency: 'EUR', period: 'MONTH', limit_minor: 1_000 },
  });
});
const makeStale = () => s.sql("update sessions set proved_at = now() - interval '1 day'");
const prove = () => ada.call('POST', '/v1/auth/reauthenticate', { body: { password: PASSWORD } });

const changes = ROUTES.filter(
  ({ method, scopes }) => method !== 'GET' && Array.isArray(scopes) && scopes.includes('admin'),
);
const names = changes.map(nameOf);

test('the lists name routes that there are', () => {
  expect(names).toEqual(expect.arrayContaining([...Object.keys(FREE), ...Object.keys(BY_BODY)]));
  expect(names.length).toBeGreaterThan(20);
});

describe('with a sign-in that is long ago, an administrator', () => {
  test.each(names.filter((name) => !(name in FREE) && !(name in BY_BODY)))(
    'is asked for a proof by %s, and has it done after the proof',
    async (name) => {
      const { request, status } = caseOf(name);
      const { path, ...options } = await request(world);
      const method = name.split(' ')[0] as string;
      await makeStale();
      expect(refusal(await ada.call(method, path, options))).toEqual([403, 'reauthentication_required']);
      expect((await prove()).status).toBe(204);
      const done = await ada.call(method, path, options);
      expect([done.status, done.text]).toEqual([status, expect.anything()]);
    },
  );
  test.each(Object.keys(FREE))('does %s without one', async (name) => {
    const { request, status } = caseOf(name);
    const { path, ...options } = await request(world);
    await makeStale();
    expect((await ada.call(name.split(' ')[0] as string, path, options)).status).toBe(
      BY_PEOPLE[name] ?? status,
    );
    await s.call('POST', '/v1/workspace/resume');
  });
  test.each(Object.entries(BY_BODY))(
    'is asked by %s for what weighs alone',
    async (name, { path, free, weighing }) => {
      const method = name.split(' ')[0] as string;
      await makeStale();
      const slug = () => (name === 'POST /v1/agents' ? { slug: freshKey() } : {});
      for (const body of weighing) {
        const reply = await ada.call(method, path(world), { body: { ...slug(), ...body } });
        expect([body, ...refusal(reply)]).toEqual([body, 403, 'reauthentication_required']);
      }
      for (const body of free) {
        const reply = await ada.call(method, path(world), { body: { ...slug(), ...body } });
        expect([body, reply.status]).toEqual([body, method === 'POST' ? 201 : 200]);
      }
    },
  );
  test('is asked for a new agent where the workspace makes its agents in ENFORCE', async () => {
    await s.call('PATCH', '/v1/workspace', { body: { mode: 'ENFORCE' } });
    await makeStale();
    const made = (body: object) => ada.call('POST', '/v1/agents', { body: { slug: freshKey(), ...body } });
    expect(refusal(await made({}))).toEqual([403, 'reauthentication_required']);
    expect((await made({ mode: 'SHADOW' })).status).toBe(201);
    await s.call('PATCH', '/v1/workspace', { body: { mode: 'SHADOW' } });
  });
});

test('a reviewer lists a merchant without a proof, and a key is never asked', async () => {
  const user_id = await world.member();
  const { rows } = await s.sql('select email from users where user_id = $1', [user_id]);
  const reviewer = await signIn(s, rows[0].email, ' long enough 4711');
  await makeStale();
  const { path, ...options } = await caseOf('POST /v1/agents/:id/merchants').request(world);
  expect((await reviewer.call('POST', path, options)).status).toBe(201);
  expect((await s.call('POST', path, options)).status).toBe(201);
});

test('every change of one’s own account is on the list, and the routes agree', async () => {
  const core = makeTestCore(superuserConnection());
  const config = readConfig({});
  const routes = makePersonRoutes(core, config, makePeopleServices(core, config, makeOwnLimiter)).filter(
    ({ method, scopes }) => method !== 'GET' && scopes === 'session',
  );
  for (const route of routes) {
    const name = nameOf(route);
    expect(OF_SESSIONS, `${name}: does it need a fresh proof?`).toHaveProperty([name]);
    expect([name, mayNeedProof(route)]).toEqual([name, OF_SESSIONS[name] === true]);
  }
  await core.close();
});

describe('a change of one’s own account that needs a proof', () => {
  test.each(Object.keys(OF_SESSIONS).filter((name) => OF_SESSIONS[name] === true))(
    '%s asks for it',
    async (name) => {
      const [method, path] = name.split(' ') as [string, string];
      await makeStale();
      const body = { id: 'x', rawId: 'x', type: 'public-key', response: {}, clientExtensionResults: {} };
      const taken: Record<string, object> = {
        '/v1/auth/passkey/register/verify': { body },
        '/v1/me/slack': { body: { code: 'A'.repeat(27) } },
        '/v1/me/signing-keys': {
          body: {
            name: 'Key',
            statement: 'x',
            response: {
              id: 'x',
              response: { clientDataJSON: 'x', authenticatorData: 'x', signature: 'x' },
            },
          },
        },
      };
      const with_body = taken[path] ?? {};
      const reply = await ada.call(method, path.replace(':id', 'x'), with_body);
      expect([200, 201, 204]).not.toContain(reply.status);
      if (!path.endsWith('/verify')) expect(refusal(reply)).toEqual([403, 'reauthentication_required']);
    },
  );
});
