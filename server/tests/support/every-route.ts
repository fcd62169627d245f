import { makeIdsAt } from '@purser/rules/values/ids';
import { makeApiRoutes } from '../../src/service/api/routes.ts';
import { readConfig } from '../../src/service/config/config.ts';
import type { Route } from '../../src/service/http/route.ts';
import { superuserConnection } from './postgres.ts';
import { makeAsker } from './questions.ts';
import { AUTHORITY, freshKey, makeKey, makeTestCore, type RunningService, spend } from './running-service.ts';
import { issuerKey, signedAllowance } from './signed-allowances.ts';

/**
 * Every route, written from the interface specification and not from the code: who may call it, and a request that
 * it accepts. A route that is not listed here fails the tests that are generated from this table.
 */

export type Scope = 'authorize' | 'admin' | 'review' | 'read' | 'consume';

/** One workspace with an agent in ENFORCE, and what its requests need. */
export interface World {
  service: RunningService;
  workspace_id: string;
  /** An admin key that only prepares. */
  setup: string;
  slug: string;
  agent_id: string;
  /** Asks for a spend as the preparing key; over 1,000 goes to a person. */
  ask(amount_minor: number): Promise<{ decision_id: string; capability: { token: string } | null }>;
  /** An endpoint of the workspace, made when there is none. */
  webhook(): Promise<string>;
  /** A channel of the workspace, made when there is none. */
  channel(): Promise<string>;
  /** An attempt to tell that endpoint of a new decision. */
  attempt(): Promise<string>;
  /** Invites somebody new. */
  invite(): Promise<{ id: string; url: string }>;
  /** Shares a new decision, and tells the path of the link. */
  link(): Promise<string>;
  /** Lists a new merchant for the agent, and tells the entry's id. */
  listed(): Promise<string>;
  /** Has a key that nobody else uses ask a new question, and tells its id. */
  question(): Promise<string>;
  /** Requests a new allowance, and tells its id. */
  requested(): Promise<string>;
  /** Makes a new allowance, and tells its id. */
  allowance(): Promise<string>;
  /** Registers a new issuer of signed allowances. */
  issuer(): Promise<{ id: string; sign(allowance: object): string }>;
  /** Makes a new shared budget, and tells its id. */
  budget(): Promise<string>;
  /** Has somebody new join, and tells the user's id. */
  member(): Promise<string>;
  authority: object;
}

export interface PreparedRequest {
  path: string;
  body?: unknown;
  /** A file in place of a body, with its content type. */
  raw?: string;
  headers?: Record<string, string>;
  idempotency_key?: string;
}

export interface RouteCase {
  scopes: readonly Scope[];
  /** The refusal in another workspace, where it is not that of an unknown id. */
  other_workspace?: readonly [number, string];
  /** An agent key may call it for what is its agent's, whatever scopes are asked for. */
  agent_key?: true;
  /** A request that its owner's key succeeds with, on things made for it. */
  request(world: World): Promise<PreparedRequest>;
  /** The status of success. */
  status: number;
  /** The code of that answer, if it refuses every key that may call the route. */
  code?: string;
  /** What it names: nothing (a list, or something new), or one thing of the workspace. */
  names: 'nothing' | 'one thing';
  /** How the key of another agent of the workspace is answered, where it may call the route at all. */
  other_agent?: readonly [number, string | undefined];
  /** How anybody in scope is answered while the agent is paused. */
  paused?: readonly [number, string];
}

const NOT_FOUND = [404, 'not_found'] as const;
const NOT_ACTIVE = [403, 'agent_not_active'] as const;
const URL = 'https://receiver.invalid/events';

const allowanceBody = (agent: string) => ({
  agent,
  currency: 'EUR',
  amount_minor: 1_000,
  expires_at: new Date(Date.now() + 86_400_000).toISOString(),
});
const budgetBody = () => ({ slug: freshKey(), currency: 'EUR', period: 'MONTH', limit_minor: 1_000 });
const fixed = (path: string, body?: unknown) => async () => ({
  path,
  ...(body === undefined ? {} : { body }),
});
const ofDecision = (tail: string, amount: number, body?: unknown) => async (world: World) => ({
  path: `/v1/decisions/${(await world.ask(amount)).decision_id}${tail}`,
  ...(body === undefined ? {} : { body }),
});
const ofAgent = (tail: string, body?: unknown) => async (world: World) => ({
  path: `/v1/agents/${world.slug}${tail}`,
  ...(body === undefined ? {} : { body }),
});
const ofWebhook = (tail: string, body?: unknown) => async (world: World) => ({
  path: `/v1/webhooks/${await world.webhook()}${tail}`,
  ...(body === undefined ? {} : { body }),
});

const LINE =
  '{"merchant":"Ozols","amount_minor":100,"currency":"EUR","occurred_at":"2026-03-02","external_reference":"REF"}';
const NDJSON = 'application/x-ndjson';
/** Makes an import with a line of its own, and tells its id. */
async function imported({ service, setup }: World): Promise<string> {
  const made = await service.call('POST', '/v1/imports', {
    key: setup,
    body: { file_name: 'lines.ndjson', source: 'lines' },
  });
  const { id } = made.body;
  const raw = LINE.replace('REF', freshKey());
  const sent = await service.call('PUT', `/v1/imports/${id}/content`, {
    key: setup,
    raw,
    headers: { 'content-type': NDJSON },
  });
  if (sent.status !== 200) throw new Error(sent.text);
  return id;
}
const ofImport = (tail: string) => async (world: World) => ({
  path: `/v1/imports/${await imported(world)}${tail}`,
});

/** Adds a rail, and tells its id. */
async function added({ service, setup }: World): Promise<string> {
  const body = { kind: 'lithic', name: 'Cards' };
  return (await service.call('POST', '/v1/rails', { key: setup, body })).body.id;
}
const ofRail = (body?: unknown) => async (world: World) => ({
  path: `/v1/rails/${await added(world)}`,
  ...(body === undefined ? {} : { body }),
});

/** A line of its own. */
async function lineOf(world: World): Promise<string> {
  const path = `/v1/lines?import=${await imported(world)}`;
  const lines = await world.service.call('GET', path, { key: world.setup });
  return lines.body.data[0].line_id;
}
const ofLine = (tail: string, body?: unknown) => async (world: World) => ({
  path: `/v1/lines/${await lineOf(world)}${tail}`,
  ...(body === undefined ? {} : { body }),
});

const ofChannel = (tail: string, body?: unknown) => async (world: World) => ({
  path: `/v1/channels/${await world.channel()}${tail}`,
  ...(body === undefined ? {} : { body }),
});

const ROUTE_CASES: Record<string, RouteCase> = {
  'POST /v1/decisions': {
    scopes: ['authorize'],
    request: async (world) => ({
      path: '/v1/decisions',
      body: spend(world.slug, 10),
      idempotency_key: freshKey(),
    }),
    status: 201,
    names: 'one thing',
    other_agent: [403, 'agent_mismatch'],
    paused: NOT_ACTIVE,
  },
  'GET /v1/decisions': {
    scopes: ['read'],
    agent_key: true,
    request: fixed('/v1/decisions'),
    status: 200,
    names: 'nothing',
    other_agent: [200, undefined],
  },
  'GET /v1/reports/spending': {
    scopes: ['read'],
    request: fixed('/v1/reports/spending?by=merchant'),
    status: 200,
    names: 'nothing',
  },
  'GET /v1/reports/allowances': {
    scopes: ['read'],
    request: fixed('/v1/reports/allowances?label=words'),
    status: 200,
    names: 'nothing',
  },
  'GET /v1/agents/:id/burn-down': {
    scopes: ['read'],
    request: ofAgent('/burn-down'),
    status: 200,
    names: 'one thing',
  },
  'GET /v1/budgets/:id/burn-down': {
    scopes: ['read'],
    request: async (world) => ({ path: `/v1/budgets/${await world.budget()}/burn-down` }),
    status: 200,
    names: 'one thing',
  },
  'GET /v1/search': {
    scopes: ['read'],
    agent_key: true,
    request: fixed('/v1/search?q=hetzner'),
    status: 200,
    names: 'nothing',
    other_agent: [200, undefined],
  },
  'GET /v1/decisions/export': {
    scopes: ['read'],
    agent_key: true,
    request: fixed('/v1/decisions/export?format=csv'),
    status: 200,
    names: 'nothing',
    other_agent: [200, undefined],
  },
  'POST /v1/decisions/:id/links': {
    scopes: ['review', 'admin'],
    request: ofDecision('/links', 10, { expires_in_seconds: 3_600 }),
    status: 201,
    names: 'one thing',
  },
  'GET /v1/decisions/:id/links': {
    scopes: ['review', 'admin'],
    request: ofDecision('/links', 10),
    status: 200,
    names: 'one thing',
  },
  'GET /v1/decisions/:id/links/:link_id': {
    scopes: ['review', 'admin'],
    request: async (world) => ({ path: await world.link() }),
    status: 200,
    names: 'one thing',
  },
  'DELETE /v1/decisions/:id/links/:link_id': {
    scopes: ['review', 'admin'],
    request: async (world) => ({ path: await world.link() }),
    status: 204,
    names: 'one thing',
  },
  'GET /v1/decisions/:id/page': {
    scopes: ['read'],
    request: ofDecision('/page', 10),
    status: 200,
    names: 'one thing',
  },
  'GET /v1/decisions/:id': {
    scopes: ['read'],
    agent_key: true,
    request: ofDecision('', 10),
    status: 200,
    names: 'one thing',
    other_agent: NOT_FOUND,
  },
  'POST /v1/decisions/:id/reviews': {
    scopes: ['review'],
    request: ofDecision('/reviews', 2_000, { action: 'ALLOW', reason_code: 'OK' }),
    status: 201,
    names: 'one thing',
  },
  'POST /v1/decisions/:id/notes': {
    scopes: ['review'],
    request: ofDecision('/notes', 2_000, { text: 'Is this the second one?' }),
    status: 201,
    names: 'one thing',
  },
  'GET /v1/decisions/:id/sheet': {
    scopes: ['read'],
    request: ofDecision('/sheet', 2_000),
    status: 200,
    names: 'one thing',
  },
  'GET /v1/inbox': {
    scopes: ['read'],
    request: fixed('/v1/inbox'),
    status: 200,
    names: 'nothing',
  },
  'POST /v1/decisions/:id/labels': {
    scopes: ['review'],
    request: ofDecision('/labels', 10, { label: 'PURPOSE_ALIGNED' }),
    status: 201,
    names: 'one thing',
  },
  'GET /v1/decisions/:id/reviews': {
    scopes: ['read'],
    agent_key: true,
    request: ofDecision('/reviews', 10),
    status: 200,
    names: 'one thing',
    other_agent: NOT_FOUND,
  },
  'GET /v1/decisions/:id/labels': {
    scopes: ['read'],
    agent_key: true,
    request: ofDecision('/labels', 10),
    status: 200,
    names: 'one thing',
    other_agent: NOT_FOUND,
  },
  'POST /v1/decisions/:id/outcomes': {
    scopes: ['authorize', 'consume', 'admin'],
    request: ofDecision('/outcomes', 10, { type: 'SPEND_EXECUTED', amount_minor: 10 }),
    status: 201,
    names: 'one thing',
    other_agent: NOT_FOUND,
  },
  'GET /v1/decisions/:id/outcomes': {
    scopes: ['read'],
    agent_key: true,
    request: ofDecision('/outcomes', 10),
    status: 200,
    names: 'one thing',
    other_agent: NOT_FOUND,
  },
  'POST /v1/capabilities/consume': {
    scopes: ['consume'],
    request: async (world) => ({
      path: '/v1/capabilities/consume',
      // An amount of its own: what was paid before may be asked for again only with a person.
      body: { token: (await world.ask(11)).capability?.token, amount_minor: 11, currency: 'EUR' },
      idempotency_key: freshKey(),
    }),
    status: 201,
    names: 'one thing',
    paused: NOT_ACTIVE,
  },
  'POST /v1/agents': {
    scopes: ['admin'],
    request: async () => ({ path: '/v1/agents', body: { slug: freshKey() } }),
    status: 201,
    names: 'nothing',
  },
  'GET /v1/agents': { scopes: ['read'], request: fixed('/v1/agents'), status: 200, names: 'nothing' },
  'GET /v1/agents/:id': {
    scopes: ['read'],
    agent_key: true,
    request: ofAgent(''),
    status: 200,
    names: 'one thing',
    other_agent: NOT_FOUND,
  },
  'GET /v1/agents/:id/limits': {
    scopes: ['read'],
    agent_key: true,
    request: ofAgent('/limits'),
    status: 200,
    names: 'one thing',
    other_agent: NOT_FOUND,
  },
  'PATCH /v1/agents/:id': {
    scopes: ['admin'],
    request: ofAgent('', { name: 'Renamed' }),
    status: 200,
    names: 'one thing',
  },
  'POST /v1/agents/:id/authority': {
    scopes: ['admin'],
    request: async (world) => ({ path: `/v1/agents/${world.slug}/authority`, body: world.authority }),
    status: 201,
    names: 'one thing',
  },
  'GET /v1/agents/:id/authority/versions': {
    scopes: ['read'],
    agent_key: true,
    request: ofAgent('/authority/versions'),
    status: 200,
    names: 'one thing',
    other_agent: NOT_FOUND,
  },
  'GET /v1/agents/:id/authority': {
    scopes: ['read'],
    agent_key: true,
    request: ofAgent('/authority'),
    status: 200,
    names: 'one thing',
    other_agent: NOT_FOUND,
  },
  'POST /v1/authority/reading': {
    scopes: ['read'],
    request: fixed('/v1/authority/reading', AUTHORITY),
    status: 200,
    names: 'nothing',
  },
  'POST /v1/authority/test': {
    scopes: ['admin'],
    request: fixed('/v1/authority/test', {
      authority: AUTHORITY,
      steps: [{ at: '2026-11-21T08:30:00Z', decide: spend(undefined, 100) }],
    }),
    status: 200,
    names: 'nothing',
  },
  'GET /v1/agents/:id/authority/reading': {
    scopes: ['read'],
    request: ofAgent('/authority/reading'),
    status: 200,
    names: 'one thing',
  },
  'POST /v1/agents/:id/authority/simulate': {
    scopes: ['admin'],
    request: ofAgent('/authority/simulate', AUTHORITY),
    status: 200,
    names: 'one thing',
  },
  'GET /v1/review-policy': {
    scopes: ['read'],
    request: fixed('/v1/review-policy'),
    status: 200,
    names: 'nothing',
  },
  'PUT /v1/review-policy': {
    scopes: ['admin'],
    request: fixed('/v1/review-policy', { policy: {} }),
    status: 200,
    names: 'nothing',
  },
  'GET /v1/review-policy/versions': {
    scopes: ['read'],
    request: fixed('/v1/review-policy/versions'),
    status: 200,
    names: 'nothing',
  },
  'POST /v1/allowances': {
    scopes: ['admin'],
    agent_key: true,
    request: async (world) => ({
      path: '/v1/allowances',
      body: { parent: await world.allowance(), amount_minor: 10 },
    }),
    status: 201,
    names: 'one thing',
    other_agent: [404, 'not_found'],
  },
  'POST /v1/allowances/batch': {
    scopes: ['admin'],
    request: async (world) => ({
      path: '/v1/allowances/batch',
      body: { allowances: [allowanceBody(world.slug)] },
    }),
    status: 201,
    names: 'one thing',
  },
  'GET /v1/allowances': {
    scopes: ['read'],
    agent_key: true,
    request: fixed('/v1/allowances'),
    status: 200,
    names: 'nothing',
    other_agent: [200, undefined],
  },
  'GET /v1/allowances/:id': {
    scopes: ['read'],
    agent_key: true,
    request: async (world) => ({ path: `/v1/allowances/${await world.allowance()}` }),
    status: 200,
    names: 'one thing',
    other_agent: [404, 'not_found'],
  },
  'POST /v1/allowances/request': {
    scopes: ['authorize'],
    request: async (world) => ({
      path: '/v1/allowances/request',
      body: { agent: world.slug, currency: 'EUR', amount_minor: 10, purpose: 'A test' },
    }),
    status: 201,
    names: 'one thing',
    other_agent: [403, 'agent_mismatch'],
  },
  'POST /v1/allowances/:id/decide': {
    scopes: ['review'],
    request: async (world) => ({
      path: `/v1/allowances/${await world.requested()}/decide`,
      body: { action: 'DENY' },
    }),
    status: 200,
    names: 'one thing',
  },
  'PATCH /v1/allowances/:id': {
    scopes: ['admin'],
    request: async (world) => ({
      path: `/v1/allowances/${await world.allowance()}`,
      body: { amount_minor: 900 },
    }),
    status: 200,
    names: 'one thing',
  },
  'POST /v1/allowances/present': {
    scopes: ['authorize'],
    agent_key: true,
    request: async (world) => ({
      path: '/v1/allowances/present',
      body: { signed: (await world.issuer()).sign(allowanceBody(world.slug)) },
    }),
    status: 201,
    names: 'one thing',
    other_agent: [403, 'agent_mismatch'],
    other_workspace: [422, 'allowance_invalid'],
  },
  'POST /v1/allowance-issuers': {
    scopes: ['admin'],
    request: async () => ({
      path: '/v1/allowance-issuers',
      body: { name: 'Builds', jwk: issuerKey().jwk, currency: 'EUR', max_amount_minor: 100 },
    }),
    status: 201,
    names: 'nothing',
  },
  'GET /v1/allowance-issuers': {
    scopes: ['admin'],
    request: fixed('/v1/allowance-issuers'),
    status: 200,
    names: 'nothing',
  },
  'DELETE /v1/allowance-issuers/:id': {
    scopes: ['admin'],
    request: async (world) => ({ path: `/v1/allowance-issuers/${(await world.issuer()).id}` }),
    status: 204,
    names: 'one thing',
  },
  'POST /v1/allowances/:id/revoke': {
    scopes: ['admin', 'review'],
    agent_key: true,
    request: async (world) => ({ path: `/v1/allowances/${await world.allowance()}/revoke`, body: {} }),
    status: 200,
    names: 'one thing',
    other_agent: [404, 'not_found'],
  },
  'POST /v1/budgets': {
    scopes: ['admin'],
    request: async () => ({ path: '/v1/budgets', body: budgetBody() }),
    status: 201,
    names: 'nothing',
  },
  'GET /v1/budgets': { scopes: ['read'], request: fixed('/v1/budgets'), status: 200, names: 'nothing' },
  'GET /v1/budgets/:id': {
    scopes: ['read'],
    request: async (world) => ({ path: `/v1/budgets/${await world.budget()}` }),
    status: 200,
    names: 'one thing',
  },
  'PATCH /v1/budgets/:id': {
    scopes: ['admin'],
    request: async (world) => ({
      path: `/v1/budgets/${await world.budget()}`,
      body: { limit_minor: 2_000 },
    }),
    status: 200,
    names: 'one thing',
  },
  'GET /v1/agents/:id/merchants/suggestions': {
    scopes: ['read'],
    request: ofAgent('/merchants/suggestions'),
    status: 200,
    names: 'one thing',
  },
  'POST /v1/agents/:id/merchants': {
    scopes: ['admin', 'review'],
    request: async (world) => ({
      path: `/v1/agents/${world.slug}/merchants`,
      body: { entries: [{ merchant: `Shop ${freshKey()}`, verdict: 'ALLOWED' }] },
    }),
    status: 201,
    names: 'one thing',
  },
  'GET /v1/agents/:id/merchants': {
    scopes: ['read'],
    agent_key: true,
    request: ofAgent('/merchants'),
    status: 200,
    names: 'one thing',
    other_agent: NOT_FOUND,
  },
  'DELETE /v1/agents/:id/merchants/:entry_id': {
    scopes: ['admin', 'review'],
    request: async (world) => ({ path: `/v1/agents/${world.slug}/merchants/${await world.listed()}` }),
    status: 204,
    names: 'one thing',
  },
  'GET /v1/agents/:id/questions': {
    scopes: ['read'],
    request: ofAgent('/questions'),
    status: 200,
    names: 'one thing',
  },
  'POST /v1/agents/:id/questions/:question_id/answer': {
    scopes: ['review'],
    request: async (world) => ({
      path: `/v1/agents/${world.slug}/questions/${await world.question()}/answer`,
      body: { answer: 'YES' },
    }),
    status: 200,
    names: 'one thing',
  },
  'DELETE /v1/agents/:id/questions/:question_id/answer': {
    scopes: ['admin'],
    request: async (world) => ({
      path: `/v1/agents/${world.slug}/questions/${await world.question()}/answer`,
    }),
    status: 204,
    names: 'one thing',
  },
  'GET /v1/questions': {
    scopes: ['read'],
    request: fixed('/v1/questions'),
    status: 200,
    names: 'nothing',
  },
  'POST /v1/api-keys': {
    scopes: ['admin'],
    request: fixed('/v1/api-keys', { name: 'made', scopes: ['read'] }),
    status: 201,
    names: 'nothing',
  },
  'GET /v1/api-keys': { scopes: ['admin'], request: fixed('/v1/api-keys'), status: 200, names: 'nothing' },
  'GET /v1/api-keys/current': {
    scopes: ['authorize', 'admin', 'review', 'read', 'consume'],
    request: fixed('/v1/api-keys/current'),
    status: 200,
    names: 'nothing',
    other_agent: [200, undefined],
  },
  'DELETE /v1/api-keys/:id': {
    scopes: ['admin'],
    request: async (world) => ({
      path: `/v1/api-keys/${(await makeKey(world.service, { scopes: ['read'] }, world.setup)).id}`,
    }),
    status: 204,
    names: 'one thing',
  },
  'GET /v1/reports/shadow': {
    scopes: ['read'],
    request: fixed('/v1/reports/shadow'),
    status: 200,
    names: 'nothing',
  },
  'GET /v1/reports/overview': {
    scopes: ['read'],
    request: fixed('/v1/reports/overview'),
    status: 200,
    names: 'nothing',
  },
  'GET /v1/signing-keys': {
    scopes: ['read'],
    request: fixed('/v1/signing-keys'),
    status: 200,
    names: 'nothing',
  },
  'GET /v1/workspace': { scopes: ['read'], request: fixed('/v1/workspace'), status: 200, names: 'nothing' },
  'PATCH /v1/workspace': {
    scopes: ['admin'],
    request: fixed('/v1/workspace', { name: 'Renamed' }),
    status: 200,
    names: 'nothing',
  },
  'POST /v1/workspace/stop': {
    scopes: ['admin', 'review'],
    request: fixed('/v1/workspace/stop', { reason: 'A key was leaked.' }),
    status: 200,
    names: 'nothing',
  },
  'POST /v1/workspace/sample': {
    scopes: ['admin'],
    request: fixed('/v1/workspace/sample'),
    // Only people have samples: no key, whatever its scopes.
    status: 403,
    code: 'insufficient_scope',
    names: 'nothing',
  },
  'DELETE /v1/workspace/sample': {
    scopes: ['admin'],
    request: fixed('/v1/workspace/sample'),
    // No workspace of the tests is a sample.
    status: 409,
    code: 'not_a_sample',
    names: 'nothing',
  },
  'POST /v1/workspace/resume': {
    scopes: ['admin'],
    request: fixed('/v1/workspace/resume'),
    status: 200,
    names: 'nothing',
  },
  'GET /v1/changes': {
    scopes: ['read'],
    request: fixed('/v1/changes?since=0'),
    status: 200,
    names: 'nothing',
  },
  'GET /v1/ledger/verify': {
    scopes: ['read'],
    request: fixed('/v1/ledger/verify'),
    status: 200,
    names: 'nothing',
  },
  'GET /v1/ledger/events': {
    scopes: ['read'],
    request: fixed('/v1/ledger/events'),
    status: 200,
    names: 'nothing',
  },
  'GET /v1/ledger/events/:seq': {
    scopes: ['read'],
    request: fixed('/v1/ledger/events/1'),
    status: 200,
    names: 'nothing',
  },
  'GET /v1/ledger/checkpoints': {
    scopes: ['read'],
    request: fixed('/v1/ledger/checkpoints'),
    status: 200,
    names: 'nothing',
  },
  'GET /v1/ledger/export': {
    scopes: ['read'],
    request: fixed('/v1/ledger/export'),
    status: 200,
    names: 'nothing',
  },
  'GET /v1/audit': { scopes: ['read'], request: fixed('/v1/audit'), status: 200, names: 'nothing' },
  'POST /v1/imports/detect': {
    scopes: ['admin', 'consume'],
    request: async () => ({ path: '/v1/imports/detect', raw: LINE, headers: { 'content-type': NDJSON } }),
    status: 200,
    names: 'nothing',
  },
  'POST /v1/imports': {
    scopes: ['admin', 'consume'],
    request: fixed('/v1/imports', { file_name: 'lines.ndjson', source: 'lines' }),
    status: 201,
    names: 'nothing',
  },
  'GET /v1/imports': { scopes: ['read'], request: fixed('/v1/imports'), status: 200, names: 'nothing' },
  'GET /v1/imports/:id': { scopes: ['read'], request: ofImport(''), status: 200, names: 'one thing' },
  'PUT /v1/imports/:id/content': {
    scopes: ['admin', 'consume'],
    request: async (world) => ({
      path: `/v1/imports/${await imported(world)}/content`,
      raw: LINE.replace('REF', freshKey()),
      headers: { 'content-type': NDJSON },
    }),
    status: 200,
    names: 'one thing',
  },
  'GET /v1/imports/:id/problems': {
    scopes: ['read'],
    request: ofImport('/problems'),
    status: 200,
    names: 'one thing',
  },
  'DELETE /v1/imports/:id': { scopes: ['admin'], request: ofImport(''), status: 204, names: 'one thing' },
  'GET /v1/lines': { scopes: ['read'], request: fixed('/v1/lines'), status: 200, names: 'nothing' },
  'GET /v1/lines/:id': {
    scopes: ['read'],
    request: ofLine(''),
    status: 200,
    names: 'one thing',
  },
  'POST /v1/lines/:id/resolutions': {
    scopes: ['review'],
    request: ofLine('/resolutions', { action: 'EXCLUDE', comment: 'A fee.' }),
    status: 201,
    names: 'one thing',
  },
  'GET /v1/lines/:id/resolutions': {
    scopes: ['read'],
    request: ofLine('/resolutions'),
    status: 200,
    names: 'one thing',
  },
  'GET /v1/reports/coverage': {
    scopes: ['read'],
    request: fixed('/v1/reports/coverage'),
    status: 200,
    names: 'nothing',
  },
  'POST /v1/history/replay': {
    scopes: ['read'],
    request: fixed('/v1/history/replay', { authority: AUTHORITY }),
    status: 200,
    names: 'nothing',
  },
  'POST /v1/history/proposal': {
    scopes: ['read'],
    async request(world) {
      await imported(world);
      return { path: '/v1/history/proposal', body: { purpose: AUTHORITY.purpose } };
    },
    status: 200,
    names: 'nothing',
  },
  'GET /v1/history/anomalies': {
    scopes: ['read'],
    request: fixed('/v1/history/anomalies'),
    status: 200,
    names: 'nothing',
  },
  'POST /v1/rails': {
    scopes: ['admin'],
    request: fixed('/v1/rails', { kind: 'lithic', name: 'Cards' }),
    status: 201,
    names: 'nothing',
  },
  'GET /v1/rails': { scopes: ['admin'], request: fixed('/v1/rails'), status: 200, names: 'nothing' },
  'GET /v1/rails/:id': { scopes: ['admin'], request: ofRail(), status: 200, names: 'one thing' },
  'PATCH /v1/rails/:id': {
    scopes: ['admin'],
    request: ofRail({ name: 'Renamed' }),
    status: 200,
    names: 'one thing',
  },
  'DELETE /v1/rails/:id': { scopes: ['admin'], request: ofRail(), status: 204, names: 'one thing' },
  'GET /v1/instruments': {
    scopes: ['read'],
    request: fixed('/v1/instruments'),
    status: 200,
    names: 'nothing',
  },
  'PUT /v1/instruments/:instrument': {
    scopes: ['admin'],
    request: async (world) => ({ path: '/v1/instruments/sepa:main', body: { agent: world.slug } }),
    status: 200,
    names: 'one thing',
  },
  'POST /v1/channels': {
    scopes: ['admin'],
    async request(world) {
      // A workspace may have twenty.
      await world.service.call('DELETE', `/v1/channels/${await world.channel()}`, { key: world.setup });
      return { path: '/v1/channels', body: { name: 'Pager', type: 'webhook', url: URL } };
    },
    status: 201,
    names: 'nothing',
  },
  'GET /v1/channels': { scopes: ['admin'], request: fixed('/v1/channels'), status: 200, names: 'nothing' },
  'GET /v1/channels/:id': {
    scopes: ['admin'],
    request: ofChannel(''),
    status: 200,
    names: 'one thing',
  },
  'PATCH /v1/channels/:id': {
    scopes: ['admin'],
    request: ofChannel('', { name: 'Renamed' }),
    status: 200,
    names: 'one thing',
  },
  'DELETE /v1/channels/:id': {
    scopes: ['admin'],
    request: ofChannel(''),
    status: 204,
    names: 'one thing',
  },
  'POST /v1/channels/:id/test': {
    scopes: ['admin'],
    request: ofChannel('/test'),
    status: 202,
    names: 'one thing',
  },
  'GET /v1/notices': { scopes: ['read'], request: fixed('/v1/notices'), status: 200, names: 'nothing' },
  'POST /v1/webhooks': {
    scopes: ['admin'],
    request: fixed('/v1/webhooks', { url: URL }),
    status: 201,
    names: 'nothing',
  },
  'GET /v1/webhooks': { scopes: ['admin'], request: fixed('/v1/webhooks'), status: 200, names: 'nothing' },
  'GET /v1/webhooks/:id': {
    scopes: ['admin'],
    request: ofWebhook(''),
    status: 200,
    names: 'one thing',
  },
  'GET /v1/webhooks/events/:id': {
    scopes: ['admin'],
    async request(world) {
      await world.webhook();
      await world.ask(10);
      const events = await world.service.call('GET', '/v1/ledger/events?limit=200', { key: world.setup });
      const { id } = events.body.data.find((event: { type: string }) => event.type === 'decision.created');
      return { path: `/v1/webhooks/events/${id}` };
    },
    status: 200,
    names: 'one thing',
  },
  'PATCH /v1/webhooks/:id': {
    scopes: ['admin'],
    request: ofWebhook('', { events: ['decision.created'] }),
    status: 200,
    names: 'one thing',
  },
  'DELETE /v1/webhooks/:id': {
    scopes: ['admin'],
    request: ofWebhook(''),
    status: 204,
    names: 'one thing',
  },
  'POST /v1/webhooks/:id/rotate-secret': {
    scopes: ['admin'],
    request: ofWebhook('/rotate-secret', { overlap_seconds: 0 }),
    status: 200,
    names: 'one thing',
  },
  'POST /v1/webhooks/:id/test': {
    scopes: ['admin'],
    request: ofWebhook('/test'),
    status: 202,
    names: 'one thing',
  },
  'POST /v1/webhooks/:id/replay': {
    scopes: ['admin'],
    async request(world) {
      const path = `/v1/webhooks/${await world.webhook()}/replay`;
      await world.ask(10);
      const events = await world.service.call('GET', '/v1/ledger/events?limit=200', { key: world.setup });
      const { id } = events.body.data.find((event: { type: string }) => event.type === 'decision.created');
      return { path, body: { event_id: id } };
    },
    status: 202,
    names: 'one thing',
  },
  'GET /v1/members': { scopes: ['admin'], request: fixed('/v1/members'), status: 200, names: 'nothing' },
  'PATCH /v1/members/:user_id': {
    scopes: ['admin'],
    request: async (world) => ({ path: `/v1/members/${await world.member()}`, body: { role: 'viewer' } }),
    status: 200,
    names: 'one thing',
  },
  'DELETE /v1/members/:user_id': {
    scopes: ['admin'],
    request: async (world) => ({ path: `/v1/members/${await world.member()}` }),
    status: 204,
    names: 'one thing',
  },
  'POST /v1/invitations': {
    scopes: ['admin'],
    request: async () => ({
      path: '/v1/invitations',
      body: { email: `${freshKey()}@example.com`, role: 'viewer' },
    }),
    status: 201,
    names: 'nothing',
  },
  'GET /v1/invitations': {
    scopes: ['admin'],
    request: fixed('/v1/invitations'),
    status: 200,
    names: 'nothing',
  },
  'DELETE /v1/invitations/:id': {
    scopes: ['admin'],
    request: async (world) => ({ path: `/v1/invitations/${(await world.invite()).id}` }),
    status: 204,
    names: 'one thing',
  },
  'GET /v1/sign-ins': { scopes: ['admin'], request: fixed('/v1/sign-ins'), status: 200, names: 'nothing' },
  'GET /v1/events': {
    scopes: ['admin'],
    request: fixed('/v1/events'),
    status: 200,
    names: 'nothing',
  },
  'GET /v1/webhooks/deliveries/:id': {
    scopes: ['admin'],
    request: async (world) => ({ path: `/v1/webhooks/deliveries/${await world.attempt()}` }),
    status: 200,
    names: 'one thing',
  },
  'GET /v1/webhooks/deliveries': {
    scopes: ['admin'],
    request: fixed('/v1/webhooks/deliveries'),
    status: 200,
    names: 'nothing',
  },
};

/** The routes that take a key, known before any service runs: nothing connects until it is asked something. */
export const ROUTES: readonly Route[] = makeApiRoutes(
  makeTestCore(superuserConnection()),
  readConfig({}),
).filter(({ scopes }) => scopes !== 'public');

/** `GET /v1/agents`: how a route is named in the table. */
export const nameOf = (route: Pick<Route, 'method' | 'path'>): string => `${route.method} ${route.path}`;

/** The table's entry of a route. Throws when it is not listed. */
export function caseOf(name: string): RouteCase {
  const found = ROUTE_CASES[name];
  if (found === undefined) throw new Error(`list ${name} in tests/every-route.ts`);
  return found;
}

/** An agent in ENFORCE in the workspace of that admin key. `words` go into every text that the world is made of. */
export async function makeWorld(
  service: RunningService,
  tenant: { workspace_id: string; admin_key: string },
  words = '',
): Promise<World> {
  const slug = `${words.toLowerCase()}agent-${freshKey()}`;
  const setup = tenant.admin_key;
  const authority = {
    ...AUTHORITY,
    purpose: { ...AUTHORITY.purpose, context: `${words} context` },
    review_threshold_minor: 1_000,
    reviewer_may_list: true,
  };
  const made = await service.call('POST', '/v1/agents', {
    key: setup,
    body: { slug, name: `${words} name`, mode: 'ENFORCE', authority },
  });
  if (made.status !== 201) throw new Error(made.text);
  const world: World = {
    service,
    workspace_id: tenant.workspace_id,
    setup,
    slug,
    agent_id: made.body.id,
    authority,
    async ask(amount_minor) {
      const reply = await service.call('POST', '/v1/decisions', {
        key: setup,
        body: spend(slug, amount_minor, {
          task: `${words} Renew the server`,
          context: { note: `${words} note` },
        }),
        idempotency_key: freshKey(),
      });
      if (reply.status !== 201) throw new Error(reply.text);
      return reply.body;
    },
    async invite() {
      const body = { email: `${words}${freshKey()}@example.com`, role: 'reviewer' };
      const reply = await service.call('POST', '/v1/invitations', { key: setup, body });
      if (reply.status !== 201) throw new Error(reply.text);
      return reply.body;
    },
    async member() {
      const token = (await world.invite()).url.split('#')[1];
      const body = { token, name: `${words} Somebody`, password: `${words} long enough 4711` };
      const reply = await service.call('POST', '/v1/auth/invitations/accept', { key: null, body });
      if (reply.status !== 201) throw new Error(reply.text);
      return reply.body.user.id;
    },
    async link() {
      const { decision_id } = await world.ask(10);
      const path = `/v1/decisions/${decision_id}/links`;
      const reply = await service.call('POST', path, { key: setup, body: { expires_in_seconds: 3_600 } });
      if (reply.status !== 201) throw new Error(reply.text);
      return `${path}/${reply.body.link_id}`;
    },
    async listed() {
      const entries = [
        { merchant: `${words} Shop ${freshKey()}`, verdict: 'ALLOWED', note: `${words} note` },
      ];
      const path = `/v1/agents/${slug}/merchants`;
      const reply = await service.call('POST', path, { key: setup, body: { entries } });
      if (reply.status !== 201) throw new Error(reply.text);
      return reply.body.data[0].entry_id;
    },
    async question() {
      const made = await service.call('POST', '/v1/api-keys', {
        key: setup,
        body: { name: freshKey(), agent_id: slug },
      });
      if (made.status !== 201) throw new Error(made.text);
      const asker = makeAsker(service);
      const asked = { agent_id: world.agent_id, kinds: ['new_merchant'], merchant: freshKey() } as const;
      const decision = await asker.ask(made.body.id, asked);
      await asker.close();
      return decision.purpose.questions?.[0]?.question_id as string;
    },
    async allowance() {
      const made = await service.call('POST', '/v1/allowances', { key: setup, body: allowanceBody(slug) });
      if (made.status !== 201) throw new Error(made.text);
      // What an agent made is what its own key may revoke.
      const { body } = await service.call('POST', '/v1/api-keys', {
        key: setup,
        body: { name: freshKey(), agent_id: slug },
      });
      const labels = { words: `${words} label` };
      const part = { parent: made.body.id, amount_minor: 1_000, name: `${words} allowance`, labels };
      const reply = await service.call('POST', '/v1/allowances', { key: body.key, body: part });
      if (reply.status !== 201) throw new Error(reply.text);
      return reply.body.id;
    },
    async issuer() {
      const { jwk, privateKey } = issuerKey();
      const body = { name: `${words} issuer`, jwk, currency: 'EUR', max_amount_minor: 1_000 };
      const reply = await service.call('POST', '/v1/allowance-issuers', { key: setup, body });
      if (reply.status !== 201) throw new Error(reply.text);
      const { id } = reply.body;
      // Good at any time, since some tests stop the clock.
      const claims = { iat: 0, exp: 4_000_000_000 };
      const sign = (allowance: object) =>
        signedAllowance(privateKey, id, world.workspace_id, allowance, { claims });
      return { id, sign };
    },
    async requested() {
      const { agent, currency, amount_minor } = allowanceBody(slug);
      const body = { agent, currency, amount_minor, purpose: `${words} load test` };
      const { body: asker } = await service.call('POST', '/v1/api-keys', {
        key: setup,
        body: { name: freshKey(), agent_id: slug },
      });
      const reply = await service.call('POST', '/v1/allowances/request', { key: asker.key, body });
      if (reply.status !== 201) throw new Error(reply.text);
      return reply.body.id;
    },
    async budget() {
      const body = { ...budgetBody(), name: `${words} budget` };
      const reply = await service.call('POST', '/v1/budgets', { key: setup, body });
      if (reply.status !== 201) throw new Error(reply.text);
      return reply.body.id;
    },
    async webhook() {
      const { body } = await service.call('GET', '/v1/webhooks', { key: setup });
      if (body.data.length > 0) return body.data[0].id;
      const url = `https://${words === '' ? 'receiver' : words.toLowerCase()}.invalid/events`;
      return (await service.call('POST', '/v1/webhooks', { key: setup, body: { url } })).body.id;
    },
    async channel() {
      const { body } = await service.call('GET', '/v1/channels', { key: setup });
      if (body.data.length > 0) return body.data[0].id;
      const url = `https://${words === '' ? 'receiver' : words.toLowerCase()}.invalid/channel`;
      const made = { name: `${words} Pager`, type: 'webhook', url };
      return (await service.call('POST', '/v1/channels', { key: setup, body: made })).body.id;
    },
    async attempt() {
      const endpoint_id = await world.webhook();
      await world.ask(10);
      const { body } = await service.call('GET', '/v1/ledger/events?limit=1', { key: setup });
      const attempt_id = makeIdsAt(Date.now(), Math.random)('delivery');
      // No worker need get round to it.
      await service.sql(
        `insert into webhook_attempts (workspace_id, attempt_id, endpoint_id, event_id, event_type, attempt, status,
          http_status, error, duration_ms, attempted_at, next_attempt_at)
          values ($1, $2, $3, $4, 'decision.created', 1, 'FAILED', null, 'dns_error', 1, now(), null)`,
        [tenant.workspace_id, attempt_id, endpoint_id, body.data[0].id],
      );
      return attempt_id;
    },
  };
  return world;
}
