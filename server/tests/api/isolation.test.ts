import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  caseOf,
  makeWorld,
  nameOf,
  type PreparedRequest,
  ROUTES,
  type World,
} from '../support/every-route.ts';
import {
  fieldOf,
  freshKey,
  makeKey,
  type Reply,
  type RunningService,
  startTestService,
} from '../support/running-service.ts';
import { ofSeveralTasks, recordStatements } from '../support/statements.ts';

const MARKER = 'Zqmarker';
const ALL = ['admin', 'review', 'read', 'authorize', 'consume'];
const NOWHERE = '01KAJ5F0V8Z3M2Q9X7T4R6N1BD';

let s: RunningService;
let here: World;
let there: World;
/** May do everything here, and asked for nothing, so that it may also review. */
let key: string;
let agent_key: string;
/** What the other workspace has, by what it is. */
let foreign: Record<
  | 'rail'
  | 'decision'
  | 'agent'
  | 'slug'
  | 'api_key'
  | 'review'
  | 'label'
  | 'token'
  | 'webhook'
  | 'channel'
  | 'event'
  | 'attempt'
  | 'user'
  | 'invitation'
  | 'entry'
  | 'budget'
  | 'question'
  | 'import'
  | 'line'
  | 'allowance'
  | 'issuer',
  string
>;
let foreign_ids: Set<string>;
let foreign_records: Record<string, number>;

const as = (tenant: World, method: string, path: string, body?: unknown) =>
  s.call(method, path, {
    key: tenant.setup,
    ...(body === undefined ? {} : { body }),
  });

const sent = recordStatements();
beforeAll(async () => {
  s = await startTestService({ plan: 'enterprise' });
  here = await makeWorld(s, s);
  there = await makeWorld(s, await s.addWorkspace({ plan: 'enterprise' }), MARKER);
  key = (await makeKey(s, { scopes: ALL })).key;
  agent_key = (await makeKey(s, { agent_id: here.slug })).key;
  const own = await makeKey(s, { scopes: ALL, principal_id: `user:${MARKER}` }, there.setup);
  const decision = await there.ask(10);
  const pending = await there.ask(2_000);
  const said = async (path: string, body: object) => {
    const reply = await s.call('POST', path, { key: own.key, body });
    expect(reply.status).toBe(201);
    return reply.body;
  };
  const at = (id: string) => `/v1/decisions/${id}`;
  const review = await said(`${at(pending.decision_id)}/reviews`, {
    action: 'ALLOW',
    reason_code: MARKER.toUpperCase(),
    comment: MARKER,
  });
  const label = await said(`${at(decision.decision_id)}/labels`, {
    label: 'PURPOSE_ALIGNED',
    comment: MARKER,
  });
  await said(`${at(pending.decision_id)}/outcomes`, {
    type: 'SPEND_EXECUTED',
    amount_minor: 2_000,
    external_reference: MARKER,
  });
  const webhook = await there.webhook();
  await there.ask(20);
  const event = (await as(there, 'GET', '/v1/ledger/events?limit=1')).body.data[0].id;
  foreign = {
    decision: decision.decision_id,
    agent: there.agent_id,
    slug: there.slug,
    api_key: own.id,
    review: review.review_id,
    label: label.label_id,
    token: decision.capability?.token as string,
    webhook,
    channel: await there.channel(),
    event,
    attempt: await there.attempt(),
    user: await there.member(),
    invitation: (await there.invite()).id,
    entry: await there.listed(),
    budget: await there.budget(),
    allowance: await there.allowance(),
    issuer: (await there.issuer()).id,
    question: await there.question(),
    ...(await imported()),
    rail: (await caseOf('GET /v1/rails/:id').request(there)).path.split('/').at(-1) as string,
  };
  foreign_ids = await idsOf(there.workspace_id);
  foreign_records = await recordsOf(there.workspace_id);
  expect(foreign_ids.size).toBeGreaterThan(15);
});
afterAll(async () => {
  sent.stop();
  await s.stop();
});

/** An import of the other workspace and its line. */
async function imported(): Promise<{ import: string; line: string }> {
  const { path } = await caseOf('GET /v1/lines/:id').request(there);
  const line = (await as(there, 'GET', path)).body;
  return { import: line.import_id, line: line.line_id };
}

/** Every id that any row of a workspace holds. */
async function idsOf(workspace_id: string): Promise<Set<string>> {
  const { rows: tables } = await s.sql(
    "select table_name from information_schema.columns where table_schema = 'public' and column_name = 'workspace_id'",
  );
  const ids = new Set<string>();
  for (const { table_name } of tables) {
    const { rows } = await s.sql(`select t::text as row from ${table_name} t where workspace_id = $1`, [
      workspace_id,
    ]);
    for (const { row } of rows) for (const id of row.match(/\b[a-z]{1,3}_[0-9A-Z]{26}\b/g) ?? []) ids.add(id);
  }
  return ids;
}

function expectNothingForeign(reply: Reply): void {
  expect(reply.text.toLowerCase()).not.toContain(MARKER.toLowerCase());
  for (const id of reply.text.match(/[a-z]{1,3}_[0-9A-Z]{26}/g) ?? []) {
    expect(foreign_ids.has(id), `${id} is the other workspace's`).toBe(false);
  }
  for (const [name, value] of reply.headers)
    expect(`${name} ${value}`.toLowerCase()).not.toContain('zqmarker');
}

/** How many records of each kind a workspace has. */
async function recordsOf(workspace_id: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of [
    'agents',
    'authorities',
    'api_keys',
    'reviews',
    'labels',
    'outcomes',
    'consumptions',
    'members',
    'invitations',
    'merchant_entries',
    'decision_links',
    'shared_budgets',
    'allowances',
    'allowance_issuers',
    'sessions',
  ]) {
    const { rowCount } = await s.sql(`select 1 from ${table} where workspace_id = $1`, [workspace_id]);
    counts[table] = rowCount ?? 0;
  }
  const { rowCount } = await s.sql('select 1 from audit_records where workspace_id = $1', [workspace_id]);
  return { ...counts, audit_records: rowCount ?? 0 };
}

/** What must be refused in the same words, whether it exists elsewhere or nowhere. */
function told(reply: Reply): unknown {
  const { error, ...rest } = reply.body ?? {};
  return [reply.status, error === undefined ? rest : [error.code, error.message]];
}

/** Fields whose values are the customer's own and name nothing of ours. */
const NAMES_NOTHING = [
  ...['payee_id', 'payee_ids', 'principal_id', 'external_reference', 'external_id'],
  // Slack's own.
  ...['app_token', 'bot_token'],
];
/** Fields that are looked up nowhere: a new name, the agent of an imagined spend, and a passkey's own id. */
const LOOKED_UP_NOWHERE = [
  'POST /v1/decisions/:id/reviews signature.response.id',
  'PUT /v1/review-policy signature.response.id',
  'POST /v1/agents slug',
  'POST /v1/budgets slug',
  'POST /v1/authority/test steps.decide.agent',
  'POST /v1/authority/test steps.decide.allowance',
];
const isReference = (name: string) =>
  !NAMES_NOTHING.includes(name) &&
  /(^|_)(id|ids|agent|agents|allowance|cursor|token|supersedes|endpoint|event|decision_id|key_id|slug)$/.test(
    name,
  );

interface Reference {
  route: string;
  place: 'path' | 'query' | 'body';
  field: string;
}

/** Every field of every route that names something, found in the routes' own schemas. */
function references(): Reference[] {
  const found: Reference[] = [];
  for (const route of ROUTES) {
    const name = nameOf(route);
    for (const [, field] of route.path.matchAll(/:([a-z_]+)/g)) {
      // Every workspace counts its own events: a number is of no other one.
      // And an instrument is named as its rail names it.
      if (field !== 'seq' && field !== 'instrument')
        found.push({ route: name, place: 'path', field: field as string });
    }
    const walk = (schema: unknown, place: 'query' | 'body', prefix: string) => {
      const { properties, items, anyOf } = (schema ?? {}) as Record<string, unknown>;
      for (const [field, of] of Object.entries((properties ?? {}) as Record<string, unknown>)) {
        if (isReference(field) && !LOOKED_UP_NOWHERE.includes(`${name} ${prefix}${field}`))
          found.push({ route: name, place, field: prefix + field });
        walk(of, place, `${prefix}${field}.`);
      }
      if (items !== undefined) walk(items, place, prefix);
      for (const one of (anyOf ?? []) as unknown[]) walk(one, place, prefix);
    };
    walk(route.query, 'query', '');
    walk(route.body, 'body', '');
  }
  return found;
}

type Kind = keyof typeof foreign;
const PATHS: Record<string, Kind[]> = {
  decisions: ['decision'],
  agents: ['agent', 'slug'],
  'api-keys': ['api_key'],
  webhooks: ['webhook'],
  channels: ['channel'],
  events: ['event'],
  deliveries: ['attempt'],
  members: ['user'],
  budgets: ['budget'],
  allowances: ['allowance'],
  'allowance-issuers': ['issuer'],
  invitations: ['invitation'],
  entry_id: ['entry'],
  question_id: ['question'],
  imports: ['import'],
  lines: ['line'],
  rails: ['rail'],
};
type Expected = readonly [number, string | undefined, string?];
const EMPTY: Expected = [200, undefined];
/** An export that holds nothing but its head. */
const NO_LINES: Expected = [200, undefined];
/** By route and field: what is named, and how the contract answers. Cursors and paths need no line. */
const FIELDS: Record<string, readonly [Kind[], Expected]> = {
  'POST /v1/decisions agent': [
    ['agent', 'slug'],
    [404, 'not_found'],
  ],
  'POST /v1/decisions allowance': [['allowance'], [404, 'not_found', 'allowance']],
  'GET /v1/decisions allowance': [['allowance'], EMPTY],
  'POST /v1/allowance-issuers agents': [
    ['agent', 'slug'],
    [404, 'not_found', 'agents[0]'],
  ],
  'POST /v1/allowance-issuers parent': [['allowance'], [404, 'not_found', 'parent']],
  'GET /v1/decisions/export allowance': [['allowance'], NO_LINES],
  'POST /v1/allowances agent': [
    ['agent', 'slug'],
    [404, 'not_found'],
  ],
  'POST /v1/allowances/request agent': [
    ['agent', 'slug'],
    [404, 'not_found', 'agent'],
  ],
  'POST /v1/allowances/batch allowances.agent': [
    ['agent', 'slug'],
    [404, 'not_found'],
  ],
  'GET /v1/allowances agent': [['agent', 'slug'], EMPTY],
  'POST /v1/api-keys agent_id': [
    ['agent', 'slug'],
    [404, 'not_found'],
  ],
  'POST /v1/api-keys allowance': [['allowance'], [404, 'not_found', 'allowance']],
  'POST /v1/decisions/:id/reviews supersedes': [['review'], [400, 'invalid_request', 'supersedes']],
  'POST /v1/decisions/:id/labels supersedes': [['label'], [400, 'invalid_request', 'supersedes']],
  'POST /v1/decisions/:id/reviews questions': [['question'], [400, 'invalid_request', 'questions']],
  'POST /v1/decisions/:id/labels questions': [['question'], [400, 'invalid_request', 'questions']],
  'POST /v1/capabilities/consume token': [['token'], [404, 'not_found']],
  'GET /v1/decisions question_id': [['question'], EMPTY],
  'GET /v1/decisions/export question_id': [['question'], NO_LINES],
  'GET /v1/questions agent': [
    ['agent', 'slug'],
    [404, 'not_found'],
  ],
  'GET /v1/inbox agent': [
    ['agent', 'slug'],
    [404, 'not_found'],
  ],
  'GET /v1/decisions agent': [['agent', 'slug'], EMPTY],
  'GET /v1/api-keys agent': [['agent', 'slug'], EMPTY],
  'GET /v1/decisions/export agent': [['agent', 'slug'], NO_LINES],
  'GET /v1/reports/shadow agent': [
    ['agent', 'slug'],
    [404, 'not_found'],
  ],
  'GET /v1/reports/overview agent': [
    ['agent', 'slug'],
    [404, 'not_found'],
  ],
  'GET /v1/reports/allowances agent': [
    ['agent', 'slug'],
    [404, 'not_found'],
  ],
  'GET /v1/reports/spending agent': [
    ['agent', 'slug'],
    [404, 'not_found'],
  ],
  'POST /v1/channels filter.agents': [
    ['agent', 'slug'],
    [404, 'not_found'],
  ],
  'PATCH /v1/channels/:id filter.agents': [
    ['agent', 'slug'],
    [404, 'not_found'],
  ],
  'POST /v1/imports agent': [
    ['agent', 'slug'],
    [404, 'not_found'],
  ],
  'GET /v1/lines rail': [['rail'], EMPTY],
  'POST /v1/lines/:id/resolutions decision_id': [['decision'], [400, 'invalid_request', 'decision_id']],
  'GET /v1/reports/coverage agent': [
    ['agent', 'slug'],
    [404, 'not_found'],
  ],
  'GET /v1/lines agent': [
    ['agent', 'slug'],
    [404, 'not_found'],
  ],
  'POST /v1/history/replay filter.agent': [
    ['agent', 'slug'],
    [404, 'not_found'],
  ],
  'POST /v1/history/proposal agent': [
    ['agent', 'slug'],
    [404, 'not_found'],
  ],
  'POST /v1/history/proposal filter.agent': [
    ['agent', 'slug'],
    [404, 'not_found'],
  ],
  'GET /v1/history/anomalies agent': [
    ['agent', 'slug'],
    [404, 'not_found'],
  ],
  'PUT /v1/instruments/:instrument agent': [
    ['agent', 'slug'],
    [404, 'not_found'],
  ],
  'GET /v1/notices decision': [['decision'], EMPTY],
  'GET /v1/notices channel': [['channel'], EMPTY],
  'GET /v1/webhooks/deliveries endpoint': [['webhook'], EMPTY],
  'GET /v1/webhooks/deliveries event': [['event'], EMPTY],
  'POST /v1/webhooks/:id/replay event_id': [['event'], [404, 'not_found']],
};
const call = (method: string, { path, ...given }: PreparedRequest, by = key) =>
  s.call(method, path, { ...given, key: by });

/** The same kind of name as `value`, of something that exists nowhere. */
function nowhere(value: string): string {
  if (value.includes('.')) return `cap_${NOWHERE}.${value.split('.')[1]}`;
  return /^[a-z]{1,3}_[0-9A-Z]{26}$/.test(value) ? `${value.split('_')[0]}_${NOWHERE}` : 'no-such-agent';
}

function setField(body: unknown, field: string, value: string): unknown {
  if (Array.isArray(body)) return body.map((each) => setField(each, field, value));
  const [first, ...rest] = field.split('.') as [string, ...string[]];
  const object = { ...(body as Record<string, unknown>) };
  if (first === 'agent_id') delete object.scopes;
  if (first === 'allowance' && object.scopes !== undefined) {
    delete object.scopes;
    object.agent_id = here.slug;
  }
  const own = first === 'agents' ? [value] : value;
  object[first] = rest.length === 0 ? own : setField(object[first], rest.join('.'), value);
  return object;
}

describe.each(references().map((each) => [`${each.route} ${each.field}`, each] as const))(
  '%s',
  (name, reference) => {
    const { route, place, field } = reference;
    const method = route.split(' ')[0] as string;

    if (field === 'cursor') {
      test('a cursor of the other workspace is refused', async () => {
        const prepared = await caseOf(route).request(here);
        const path = prepared.path.replace(here.slug, there.slug);
        const theirs = await as(there, 'GET', `${path}?limit=1`);
        const cursor =
          theirs.body.next_cursor ?? (await as(there, 'GET', '/v1/ledger/events?limit=1')).body.next_cursor;
        expect(cursor).toBeTruthy();
        const reply = await call(method, { path: `${prepared.path}?limit=1&cursor=${cursor}` });
        expect([reply.status, reply.body.error.code, fieldOf(reply)]).toEqual([
          400,
          'invalid_request',
          'cursor',
        ]);
        expectNothingForeign(reply);
      });
      return;
    }

    test('an id of the other workspace is answered as an id that exists nowhere', async () => {
      const segment = route.includes('/webhooks/events/') ? 'events' : (route.split('/')[2] as string);
      const [kinds, [status, code, named]] =
        place === 'path'
          ? [(PATHS[field] ?? PATHS[segment]) as Kind[], [404, 'not_found'] as Expected]
          : (FIELDS[name] ?? expect.fail(`say in FIELDS what ${name} names`));
      const keys = caseOf(route).agent_key === true && place === 'path' ? [key, agent_key] : [key];
      for (const kind of kinds) {
        for (const by of keys) {
          const answers: Reply[] = [];
          for (const value of [foreign[kind], nowhere(foreign[kind])]) {
            const prepared = await caseOf(route).request(here);
            if (place === 'path') {
              const parts = prepared.path.split('/');
              parts[route.split('/').indexOf(`:${field}`)] = value;
              prepared.path = parts.join('/');
            } else if (place === 'query')
              prepared.path += `${prepared.path.includes('?') ? '&' : '?'}${field}=${value}`;
            else prepared.body = setField(prepared.body, field, value);
            answers.push(await call(method, prepared, by));
          }
          const [theirs, none] = answers as [Reply, Reply];
          expect([theirs.status, theirs.body?.error?.code]).toEqual([status, code]);
          if (named !== undefined) expect(fieldOf(theirs)).toBe(named);
          if (status === 200 && theirs.body === undefined)
            expect(theirs.text.trim().split('\n')).toHaveLength(1);
          else if (status === 200) expect(theirs.body).toEqual({ data: [], next_cursor: null });
          expectNothingForeign(theirs);
          // Nobody can tell what exists elsewhere from what exists nowhere.
          expect(told(theirs)).toEqual(told(none));
        }
      }
    });
  },
);

test('an agent’s key that names the other workspace’s agent names a different agent', async () => {
  for (const kind of ['agent', 'slug'] as const) {
    const prepared = await caseOf('POST /v1/decisions').request(here);
    const reply = await call(
      'POST',
      { ...prepared, body: setField(prepared.body, 'agent', foreign[kind]) },
      agent_key,
    );
    expect([reply.status, reply.body.error.code]).toEqual([403, 'agent_mismatch']);
    expectNothingForeign(reply);
  }
});

describe.each(ROUTES.map(nameOf))('%s', (name) => {
  test('answers without one byte of the other workspace', async () => {
    const [method] = name.split(' ') as [string];
    const reply = await call(method, await caseOf(name).request(here));
    expect(reply.status).toBe(caseOf(name).status);
    expectNothingForeign(reply);
  });
});

test('lists and searches find nothing of the other workspace, nor its texts', async () => {
  for (const route of ROUTES.filter((each) => each.method === 'GET' && !each.path.includes(':'))) {
    const limit = (route.query as { properties?: object } | undefined)?.properties;
    const { path } = await caseOf(nameOf(route)).request(here);
    const paged = limit !== undefined && 'limit' in limit ? `${path.includes('?') ? '&' : '?'}limit=200` : '';
    const reply = await call('GET', { path: `${path}${paged}` });
    expect(reply.status).toBe(200);
    expectNothingForeign(reply);
  }
  const found = await call('GET', { path: `/v1/decisions?q=${MARKER}` });
  expect(found.body.data).toEqual([]);
});

test('the same number in two chains is of two events, and what is sought by an id of the other workspace is nothing', async () => {
  for (const seq of [1, 2, 3]) {
    const own = await call('GET', { path: `/v1/ledger/events/${seq}` });
    const theirs = await as(there, 'GET', `/v1/ledger/events/${seq}`);
    expect(own.status).toBe(200);
    expect(own.body.id).not.toBe(theirs.body.id);
    expectNothingForeign(own);
  }
  for (const path of [
    ...[foreign.decision, foreign.agent, foreign.review, foreign.label, foreign.webhook].map(
      (id) => `/v1/ledger/events?subject=${id}`,
    ),
    ...[foreign.agent, foreign.api_key, foreign.webhook].map((id) => `/v1/audit?target=${id}`),
    ...[foreign.api_key, `user:${MARKER}`].map((who) => `/v1/audit?actor=${who}`),
  ]) {
    expect((await call('GET', { path })).body).toEqual({ data: [], next_cursor: null });
  }
});

test('an idempotency key that one workspace used is free in the other', async () => {
  const idempotency_key = freshKey();
  for (const world of [there, here]) {
    const prepared = await caseOf('POST /v1/decisions').request(world);
    const reply = await s.call('POST', prepared.path, {
      body: prepared.body,
      key: world.setup,
      idempotency_key,
    });
    expect(reply.status).toBe(201);
  }
});

test('the other workspace is unchanged after all of these requests', async () => {
  expect(await recordsOf(there.workspace_id)).toEqual(foreign_records);
  const agent = (await as(there, 'GET', `/v1/agents/${there.slug}`)).body;
  expect([agent.name, agent.authority_version, agent.status]).toEqual([`${MARKER} name`, 1, 'active']);
  expect((await as(there, 'GET', '/v1/ledger/verify')).body.valid).toBe(true);
  expect((await s.call('GET', '/v1/ledger/verify')).body.valid).toBe(true);
});

test('every statement of these routes is one task of Citus: it names the workspace at each table of the workers', async () => {
  expect(await ofSeveralTasks(sent.texts, { query: s.sql } as never)).toEqual([]);
});
