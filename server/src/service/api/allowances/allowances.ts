import type { CreateAllowance } from '@purser/contract/allowances/fields';
import { routes } from '@purser/contract/routes/allowances';
import { allowanceOf, type Caller, keyBody } from '@purser/rules/domain/keys';
import { recordHash } from '@purser/rules/domain/ledger';
import { ApiError } from '@purser/rules/errors';
import type pg from 'pg';
import {
  type AllowanceFilters,
  type FoundAllowance,
  findAllowances,
  readAllowances,
} from '../../../engine/allowances/find-allowances.ts';
import {
  type CreatedAllowance,
  createAllowances,
  type NewAllowance,
} from '../../../engine/commands/allowances/create-allowances.ts';
import { requestAllowance } from '../../../engine/commands/allowances/request-allowance.ts';
import { revokeAllowance } from '../../../engine/commands/allowances/revoke-allowance.ts';
import { updateAllowance } from '../../../engine/commands/allowances/update-allowance.ts';
import { decideAllowance } from '../../../engine/commands/reviews/decide-allowance.ts';
import type { Lane } from '../../../engine/lane/lane.ts';
import { getAgent } from '../../../engine/storage/agents.ts';
import { loadSharedBudgets } from '../../../engine/storage/shared-budgets.ts';
import type { ReadChain } from '../../allowances/chains.ts';
import { maySee } from '../../allowances/may-see.ts';
import { presentAllowances, shownAllowance } from '../../allowances/present-allowances.ts';
import type { FindAgentId } from '../../decisions/authority-cache.ts';
import { agentScopeOf } from '../../decisions/present-decisions.ts';
import { type Cursors, pageOf } from '../../http/cursors.ts';
import { type CallOf, type Route, serve } from '../../http/route.ts';
import type { MakeKeyValue } from '../../installation/secrets.ts';
import { originOf } from '../../people/callers.ts';

interface Options {
  db: pg.Pool;
  lane: Lane;
  cursors: Cursors;
  readChain: ReadChain;
  makeKeyValue: MakeKeyValue;
  findAgentId: FindAgentId;
  review_ttl_seconds: number;
}

const notFound = (field = '') => new ApiError('not_found', `${field}No such allowance.`);

/** The allowance, where the caller may see it. Throws ApiError `not_found`. */
async function visible(db: pg.Pool, caller: Caller, id: string): Promise<FoundAllowance> {
  const [found] = await readAllowances(db, caller.workspace_id, [id]);
  if (found === undefined || !maySee(caller, found)) throw notFound();
  return found;
}

/** Reads what new allowances are parts of. Throws ApiError `not_found` where the caller may use no such allowance. */
async function newAllowances(
  { readChain, makeKeyValue }: Options,
  caller: Caller,
  bodies: readonly CreateAllowance[],
  prefixOf: (i: number) => string,
): Promise<(NewAllowance & { key_value: string | null })[]> {
  const made: (NewAllowance & { key_value: string | null })[] = [];
  for (const [i, body] of bodies.entries()) {
    const prefix = prefixOf(i);
    const chain = body.parent === undefined ? undefined : await readChain(caller.workspace_id, body.parent);
    const above = chain?.allowances ?? [];
    const [parent] = above;
    if (body.parent !== undefined && (parent === undefined || !maySee(caller, parent)))
      throw notFound(`${prefix}parent: `);
    const made_key = body.key === undefined ? null : makeKeyValue();
    const [key, key_value] = [made_key?.stored ?? null, made_key?.value ?? null];
    made.push({ body, body_hash: recordHash(body).toString('hex'), above, key, key_value, prefix });
  }
  return made;
}

/** The key, or else the person: each has external ids of its own. */
const makerOfCaller = ({ key_id, principal_id }: Caller) => (key_id ?? principal_id) as string;

const inputOf = (caller: Caller, allowances: readonly NewAllowance[]) => ({
  allowances,
  maker: makerOfCaller(caller),
  acting_principal: caller.principal_id,
  agent_id: agentScopeOf(caller),
});

/** The key that was made with an allowance, with its value: the only answer that has it. */
function shownKey({ key }: CreatedAllowance, given?: { key_value: string | null }) {
  if (key === null || given?.key_value == null) return {};
  const { id, ...rest } = keyBody(key);
  return { api_key: { id, key: given.key_value, ...rest } };
}

const handleCreate = (options: Options) =>
  serve(routes.createAllowance)(async (call) => {
    const { db, lane } = options;
    const { workspace_id } = call.caller;
    const allowances = await newAllowances(options, call.caller, [call.body], () => '');
    const input = inputOf(call.caller, allowances);
    const [made] = await lane.submit(workspace_id, createAllowances, input, originOf(call));
    if (made === undefined) throw new Error('no allowance was made');
    const body = await shownAllowance(db, workspace_id, made.allowance.allowance_id);
    if (made.replayed) return { status: 200, body, headers: { 'idempotent-replay': 'true' } };
    return { status: 201, body: { ...body, ...shownKey(made, allowances[0]) } };
  });

const handleCreateSeveral = (options: Options) =>
  serve(routes.createAllowances)(async (call) => {
    const { db, lane } = options;
    const { workspace_id } = call.caller;
    const prefixOf = (i: number) => `allowances[${i}].`;
    const allowances = await newAllowances(options, call.caller, call.body.allowances, prefixOf);
    const made = await lane.submit(
      workspace_id,
      createAllowances,
      inputOf(call.caller, allowances),
      originOf(call),
    );
    const ids = made.map(({ allowance }) => allowance.allowance_id);
    const bodies = await presentAllowances(db, workspace_id, await readAllowances(db, workspace_id, ids));
    const by_id = new Map(bodies.map((body) => [body.id, body]));
    const data = made.map((each, i) => ({
      ...(by_id.get(each.allowance.allowance_id) as (typeof bodies)[number]),
      ...shownKey(each, allowances[i]),
    }));
    return { status: 201, body: { data } };
  });

/** The agent of a standing approval; null for every other allowance. */
const standingOf = ({ automatic, agent_id }: FoundAllowance) => (automatic ? agent_id : null);

const handleRequest = ({ db, lane, findAgentId, review_ttl_seconds: ttl_seconds }: Options) =>
  serve(routes.requestAllowance)(async (call) => {
    const { caller, body: asked } = call;
    const { workspace_id } = caller;
    if (allowanceOf(caller) !== null)
      throw new ApiError(
        'allowance_mismatch',
        'This key is bound to an allowance and spends under no other.',
      );
    const own = agentScopeOf(caller);
    if (own === null && asked.agent === undefined)
      throw new ApiError('agent_required', 'This key is not bound to an agent: name one with `agent`.');
    const named = asked.agent === undefined ? own : await findAgentId(workspace_id, asked.agent);
    if (own !== null && named !== own)
      throw new ApiError('agent_mismatch', 'agent: this key is bound to another agent.');
    if (named === undefined || named === null) throw new ApiError('not_found', 'agent: no such agent.');
    const body_hash = recordHash(asked).toString('hex');
    const maker = makerOfCaller(caller);
    const input = { agent_id: named, body: asked, body_hash, maker, ttl_seconds };
    const { allowance, replayed } = await lane.submit(workspace_id, requestAllowance, input, originOf(call));
    const body = await shownAllowance(db, workspace_id, allowance.allowance_id);
    return replayed ? { status: 200, body, headers: { 'idempotent-replay': 'true' } } : { status: 201, body };
  });

const handleDecide = ({ db, lane }: Options) =>
  serve(routes.decideAllowance)(async (call) => {
    const { workspace_id, scopes } = call.caller;
    const { allowance_id, agent_id, created_by_key_id } = await visible(db, call.caller, call.params.id);
    const input = {
      allowance_id,
      agent_id,
      requesting_key_id: created_by_key_id,
      decision: call.body,
      is_admin: scopes.includes('admin'),
    };
    await lane.submit(workspace_id, decideAllowance, input, originOf(call));
    return { status: 200, body: await shownAllowance(db, workspace_id, allowance_id) };
  });

/** The interval at which a requested allowance is read again while a request waits for its decision. */
const LOOK_AGAIN_MS = 500;

const handleGet = ({ db }: Options) =>
  serve(routes.getAllowance, { shares: 'reads' })(async (call) => {
    const { caller, params, query } = call;
    const { allowance_id } = await visible(db, caller, params.id);
    let body = await shownAllowance(db, caller.workspace_id, allowance_id);
    for (let waits = ((query.wait_seconds ?? 0) * 1000) / LOOK_AGAIN_MS; waits > 0; waits--) {
      if (body.status !== 'REQUESTED' || !(await call.hold(LOOK_AGAIN_MS))) break;
      body = await shownAllowance(db, caller.workspace_id, allowance_id);
    }
    return { status: 200, body };
  });

type ListCall = CallOf<typeof routes.listAllowances>;

/** The filters of a list by ids; null where it names something that is not there. */
async function filtersOf({ db }: Options, { caller, query }: ListCall): Promise<AllowanceFilters | null> {
  const { workspace_id } = caller;
  const { agent, budget, parent, status, automatic, label, external_id, issuer } = query;
  const own = agentScopeOf(caller);
  const bound = allowanceOf(caller);
  const found_agent = agent === undefined ? undefined : await getAgent(db, workspace_id, agent);
  const budgets = budget === undefined ? [] : await loadSharedBudgets(db, [workspace_id]);
  const found_budget = budgets.find(({ budget_id, slug }) => budget_id === budget || slug === budget);
  if (
    (agent !== undefined && found_agent === undefined) ||
    (budget !== undefined && found_budget === undefined)
  )
    return null;
  const at = label?.indexOf(':') ?? 0;
  return {
    ...(found_agent === undefined ? {} : { agent_id: found_agent.agent_id }),
    ...(found_budget === undefined ? {} : { budget_id: found_budget.budget_id }),
    ...(parent === undefined ? {} : { parent_id: parent }),
    ...(status === undefined ? {} : { status }),
    ...(automatic === undefined ? {} : { automatic }),
    ...(label === undefined ? {} : { label: { key: label.slice(0, at), value: label.slice(at + 1) } }),
    ...(external_id === undefined ? {} : { external_id }),
    ...(issuer === undefined ? {} : { issuer_id: issuer }),
    ...(own === null ? {} : { visible_to: own }),
    ...(bound === null ? {} : { within: bound }),
  };
}

const handleList = (options: Options) =>
  serve(routes.listAllowances, { shares: 'lists' })(async (call) => {
    const { db, cursors } = options;
    const { limit = 50, cursor, ...asked } = call.query;
    const { workspace_id } = call.caller;
    const list = ['listAllowances', workspace_id, asked, agentScopeOf(call.caller), allowanceOf(call.caller)];
    const before = cursors.open(list, cursor) as string | null;
    const filters = await filtersOf(options, call);
    const found =
      filters === null ? [] : await findAllowances(db, workspace_id, filters, { before, limit: limit + 1 });
    const { rows, next_cursor } = pageOf(found, limit, (last) => cursors.seal(list, last.allowance_id));
    return { status: 200, body: { data: await presentAllowances(db, workspace_id, rows), next_cursor } };
  });

/** Makes the routes of allowances. */
export function makeAllowanceRoutes(options: Options): Route[] {
  const { db, lane } = options;
  return [
    handleCreate(options),
    handleCreateSeveral(options),
    handleList(options),
    handleGet(options),
    handleRequest(options),
    handleDecide(options),
    serve(routes.updateAllowance)(async (call) => {
      const { workspace_id } = call.caller;
      const found = await visible(db, call.caller, call.params.id);
      const input = { path: found.path, standing_of: standingOf(found), changes: call.body };
      await lane.submit(workspace_id, updateAllowance, input, originOf(call));
      return { status: 200, body: await shownAllowance(db, workspace_id, call.params.id) };
    }),
    serve(routes.revokeAllowance)(async (call) => {
      const { workspace_id } = call.caller;
      const found = await visible(db, call.caller, call.params.id);
      const { allowance_id, agent_id, budget_id } = found;
      const is_by_agent = agentScopeOf(call.caller) !== null;
      const input = { allowance_id, agent_id, budget_id, reason: call.body.reason ?? null, is_by_agent };
      await lane.submit(workspace_id, revokeAllowance, input, originOf(call));
      return { status: 200, body: await shownAllowance(db, workspace_id, allowance_id) };
    }),
  ];
}
