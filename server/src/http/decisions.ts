import type pg from 'pg';
import Type, { type Static } from 'typebox';
import type { AssessFirst, CreateDecisionInput, CreatedDecision } from '../commands/create-decision.ts';
import type { Agent } from '../domain/agents.ts';
import type { Authority } from '../domain/authorities.ts';
import type { BudgetRow } from '../domain/budget.ts';
import { capabilityStatusAt } from '../domain/capabilities.ts';
import { currentDecision } from '../domain/decision-states.ts';
import type { Decision } from '../domain/decisions.ts';
import type { Caller } from '../domain/keys.ts';
import { reviewBody } from '../domain/reviews.ts';
import type { SpendRequest } from '../domain/spends.ts';
import { ApiError } from '../errors.ts';
import type { Command } from '../lane/command.ts';
import type { Lane } from '../lane/lane.ts';
import type { Assess } from '../purpose/assessment.ts';
import type { CapabilityTokens } from '../secrets.ts';
import { getAgent, loadAgents } from '../storage/agents.ts';
import { listBudgets } from '../storage/budgets.ts';
import {
  type DecisionFilters,
  type KeptDecision,
  listDecisions,
  loadKeptDecisions,
} from '../storage/decisions.ts';
import { loadLabels } from '../storage/labels.ts';
import { loadReviews } from '../storage/reviews.ts';
import { readClock } from '../storage/workspaces.ts';
import type { AssessAhead } from './assess-ahead.ts';
import { type Cursors, pageOf } from './cursors.ts';
import { DecisionBody, DecisionRequest, ListQuery } from './decision-schemas.ts';
import { makeGatherByWorkspace } from './gather.ts';
import type { HistoryOf } from './histories.ts';
import type { Metrics } from './metrics.ts';
import { originOf } from './origin.ts';
import type { Call, Route } from './route.ts';
import { Fields, page } from './schemas.ts';

const IdParams = Fields({ id: Type.String() });

export interface DecisionRouteOptions {
  db: pg.Pool;
  /** For the list: a filter may have to look at very many decisions. */
  lists_db: pg.Pool;
  lane: Lane;
  cursors: Cursors;
  createDecision: Command<CreateDecisionInput, CreatedDecision | AssessFirst>;
  assess: Assess;
  historyOf: HistoryOf;
  /** With a model's second opinion; null: the built-in assessor alone. */
  assessAhead: AssessAhead | null;
  metrics: Pick<Metrics, 'countDecision'>;
  tokens: CapabilityTokens;
}

/** The field of a stored answer. Its first place is ours: in the texts before it every quote is escaped. */
const CAPABILITY = '"capability":';
/** A capability begins with its id. */
const CAPABILITY_ID = /^\{"capability_id":"(cap_[0-9A-Z]{26})"/;
const CAPABILITY_ID_WITHIN = 60;

/** An authority and the name of its content. */
interface KnownAuthority {
  hash: string;
  authority: Authority;
}

/** How often a spend is assessed before the lane, should its authority change each time. */
const ASSESSMENTS = 3;

/** Decisions of a workspace looked up by one statement, and waiting for the next one. */
const LOOKED_UP_AT_ONCE = 100;
const MOST_WAITING = 5_000;
/** So many statements of a workspace at a time: one that hangs must not hold up all. */
const LOOK_UPS = 2;

/** How many agents a node remembers something of. */
const REMEMBERED = 50_000;

/** Sets an entry, and forgets the oldest when there are too many. */
function rememberIn<T>(map: Map<string, T>, name: string, value: T): void {
  if (map.size >= REMEMBERED) map.delete(map.keys().next().value as string);
  map.set(name, value);
}

/**
 * The agent that a slug names never changes, so it is looked up once. Whether the agent may still spend is
 * judged in the lane.
 */
function makeFindAgentId(db: pg.Pool): (workspace_id: string, ref: string) => Promise<string | undefined> {
  const known = new Map<string, string>();
  return async (workspace_id, ref) => {
    const name = `${workspace_id} ${ref}`;
    const remembered = known.get(name);
    if (remembered !== undefined) return remembered;
    const agent_id = (await getAgent(db, workspace_id, ref))?.agent_id;
    if (agent_id === undefined) return undefined;
    rememberIn(known, name, agent_id);
    return agent_id;
  };
}

/** Asking for decisions and looking at them. */
export function makeDecisionRoutes(options: DecisionRouteOptions): Route[] {
  const { db, lists_db, lane, cursors, createDecision, assess, assessAhead, historyOf, metrics, tokens } =
    options;
  const findAgentId = makeFindAgentId(db);
  /**
   * The authority each agent was last decided by. Without a model a spend is assessed against it before it joins the
   * lane, while the database works on the batch before; the lane assesses again if the authority is another by then.
   * It is kept in memory by `parseAuthority` alone, which bounds how much there is of them.
   */
  const latest_authority = new Map<string, { hash: string; authority: WeakRef<Authority> }>();

  function latestOf(agent_id: string): KnownAuthority | undefined {
    const latest = latest_authority.get(agent_id);
    const authority = latest?.authority.deref();
    return latest === undefined || authority === undefined ? undefined : { hash: latest.hash, authority };
  }

  /** With what is known of the agent's past and, where there is one, with a model's opinion. */
  async function assessment(
    workspace_id: string,
    agent_id: string,
    idempotency_key: string,
    request: SpendRequest,
    known: KnownAuthority | undefined,
  ): Promise<CreateDecisionInput['assessed']> {
    if (assessAhead !== null) return assessAhead({ workspace_id, agent_id, idempotency_key, request });
    if (known === undefined) return null;
    const past = historyOf(workspace_id, agent_id, known.authority);
    const history = past instanceof Promise ? await past : past;
    return { authority_hash: known.hash, assessment: assess(known.authority, request, history) };
  }

  /**
   * Assesses a spend and has it decided. Where the authority has become another one meanwhile, it is assessed again:
   * twice, then the lane does it.
   */
  async function decided(
    call: Call<unknown, unknown, SpendRequest>,
    agent_id: string,
    bound: boolean,
  ): Promise<CreatedDecision> {
    const { workspace_id } = call.caller;
    const request = call.body;
    const idempotency_key = call.headers['idempotency-key'] as string;
    let known = latestOf(agent_id);
    for (let attempt = 1; ; attempt++) {
      const created = await lane.submit(
        workspace_id,
        createDecision,
        {
          agent_id,
          bound,
          request,
          idempotency_key,
          request_hash: call.body_hash as Buffer,
          assessed: await assessment(workspace_id, agent_id, idempotency_key, request, known),
          may_assess_again: attempt < ASSESSMENTS,
        },
        originOf(call),
      );
      if (!('assess_by' in created)) return created;
      known = created.assess_by;
    }
  }

  /** A capability's token is for the key that asked, and for the agent's own keys. */
  const maySeeToken = (caller: Caller, made: Pick<Decision, 'requested_by' | 'agent'>) =>
    caller.key_id === made.requested_by.key_id || caller.agent_id === made.agent.id;

  /**
   * The stored answer, with the token for whom it is: it is made anew each time, since it is kept nowhere. Who has
   * just asked may see it; a replay may be asked for by another key, so there the text is read (11 µs for 3.6 KB).
   */
  function answered(caller: Caller, { document, replayed }: CreatedDecision): string {
    const at = document.indexOf(CAPABILITY) + CAPABILITY.length;
    const [, capability_id] = CAPABILITY_ID.exec(document.slice(at, at + CAPABILITY_ID_WITHIN)) ?? [];
    if (capability_id === undefined) return document;
    if (replayed && !maySeeToken(caller, JSON.parse(document) as Decision)) return document;
    const token = tokens.of(caller.workspace_id, capability_id);
    return `${document.slice(0, at)}{"token":"${token}",${document.slice(at + 1)}`;
  }

  /** What rows are shown with: gives each as a caller may see it, in their order. */
  async function lookUpFacts(
    workspace_id: string,
    rows: readonly KeptDecision[],
  ): Promise<((caller: Caller) => Decision)[]> {
    if (rows.length === 0) return [];
    const counted = rows.map(({ made }) => ({
      agent_id: made.agent.id,
      period: made.reservation.period,
      currency: made.currency,
    }));
    const review_ids = rows.flatMap(({ state }) => state?.review_id ?? []);
    const label_ids = rows.flatMap(({ state }) => state?.label_id ?? []);
    const enforced = new Set(rows.flatMap(({ made }) => (made.mode === 'ENFORCE' ? made.agent.id : [])));
    const [budgets, clock_ms, reviews, labels, agents] = await Promise.all([
      listBudgets(db, workspace_id, counted),
      readClock(db),
      review_ids.length === 0 ? [] : loadReviews(db, workspace_id, review_ids),
      label_ids.length === 0 ? [] : loadLabels(db, workspace_id, label_ids),
      enforced.size === 0 ? [] : loadAgents(db, workspace_id, [...enforced]),
    ]);
    const name = (of: { agent_id: string; period: string; currency: string }) =>
      `${of.agent_id} ${of.period} ${of.currency}`;
    const counters = new Map(budgets.map((row) => [name(row), row]));
    const review_by_id = new Map(reviews.map((row) => [row.review_id, reviewBody(row)]));
    const label_by_id = new Map(labels.map((label) => [label.label_id, label]));
    const agent_by_id = new Map(agents.map((agent) => [agent.agent_id, agent]));
    const nothing = { held_minor: 0, committed_minor: 0 };
    return rows.map(({ made, state }, i) => {
      const records = {
        counter: counters.get(name(counted[i] as BudgetRow)) ?? nothing,
        review: review_by_id.get(state?.review_id ?? '') ?? null,
        label: label_by_id.get(state?.label_id ?? '') ?? null,
      };
      const decision = currentDecision(made, state, records, clock_ms);
      const { capability } = decision;
      if (capability === null) return () => decision;
      const status = capabilityStatusAt(capability, agent_by_id.get(made.agent.id) as Agent, clock_ms);
      return (caller) => {
        const token = maySeeToken(caller, made)
          ? { token: tokens.of(workspace_id, capability.capability_id) }
          : {};
        return { ...decision, capability: { ...token, ...capability, status } };
      };
    });
  }

  async function present(caller: Caller, rows: readonly KeptDecision[]): Promise<Decision[]> {
    const shown = await lookUpFacts(caller.workspace_id, rows);
    return shown.map((show) => show(caller));
  }

  /** One decision of a workspace, looked up together with the others that are asked for meanwhile. */
  const findDecision = makeGatherByWorkspace<
    string,
    { agent_id: string; show: (caller: Caller) => Decision }
  >((workspace_id) => ({
    nameOf: (decision_id) => decision_id,
    load: async (decision_ids) => {
      const rows = await loadKeptDecisions(
        db,
        decision_ids.map((decision_id) => ({ workspace_id, decision_id })),
      );
      const shown = await lookUpFacts(workspace_id, rows);
      return new Map(
        rows.map(({ made }, i) => [
          made.decision_id,
          { agent_id: made.agent.id, show: shown[i] as (caller: Caller) => Decision },
        ]),
      );
    },
    at_once: LOOKED_UP_AT_ONCE,
    most_waiting: MOST_WAITING,
    look_ups: LOOK_UPS,
  }));

  /** An agent key sees its own agent's decisions alone. */
  const onlyAgent = (call: Pick<Call, 'caller'>) =>
    call.caller.kind === 'agent' ? call.caller.agent_id : null;

  return [
    {
      method: 'POST',
      path: '/v1/decisions',
      operationId: 'createDecision',
      tag: 'Decisions',
      summary: 'Ask whether a spend may be made',
      description:
        'Evaluates every stage of the authority, holds the money against the month and answers ALLOW, REVIEW or DENY with reasons. The same `idempotency-key` with the same body answers 200 with the first answer and `idempotent-replay: true`. A workspace key names the agent with `agent`; an agent key need not.',
      scopes: ['authorize'],
      idempotent: true,
      body: DecisionRequest,
      responses: {
        201: { description: 'The decision.', schema: DecisionBody },
        200: {
          description: 'A replay: the decision as it was first answered.',
          schema: DecisionBody,
          headers: { 'idempotent-replay': '`true`' },
        },
      },
      errors: ['agent_mismatch', 'agent_not_active', 'not_found', 'idempotency_conflict', 'agent_required'],
      handler: async (call: Call<unknown, unknown, SpendRequest>) => {
        const { caller, body } = call;
        const bound = caller.kind === 'agent';
        if (!bound && body.agent === undefined) {
          throw new ApiError('agent_required', 'This key is not bound to an agent: name one with `agent`.');
        }
        const agent_id = bound
          ? (caller.agent_id as string)
          : await findAgentId(caller.workspace_id, body.agent as string);
        if (agent_id === undefined) throw new ApiError('not_found', 'There is no such agent.');
        const created = await decided(call, agent_id, bound);
        if (created.decided !== null) {
          const { decision, mode, reason_code, authority } = created.decided;
          if (authority === null) latest_authority.delete(agent_id);
          else if (authority.authority !== latestOf(agent_id)?.authority) {
            const { hash } = authority;
            rememberIn(latest_authority, agent_id, { hash, authority: new WeakRef(authority.authority) });
          }
          metrics.countDecision(decision, mode, reason_code);
        }
        const json = answered(caller, created);
        return created.replayed
          ? { status: 200, json, headers: { 'idempotent-replay': 'true' } }
          : { status: 201, json };
      },
    },
    {
      method: 'GET',
      path: '/v1/decisions',
      operationId: 'listDecisions',
      tag: 'Decisions',
      summary: 'List decisions',
      description: 'Newest first unless `order` is `asc`. All filters must hold together.',
      scopes: ['read'],
      agentKey: 'own',
      query: ListQuery,
      responses: {
        200: { description: 'A page of decisions.', schema: page(DecisionBody, { $id: 'DecisionPage' }) },
      },
      errors: [],
      handler: async (call: Call<unknown, Static<typeof ListQuery>, unknown>) => {
        const { limit = 50, cursor, order = 'desc', agent, ...rest } = call.query;
        const { workspace_id } = call.caller;
        const own = onlyAgent(call);
        const list = ['listDecisions', workspace_id, own, call.query.agent ?? null, order, rest];
        const after = cursors.open(list, cursor) as string | null;
        const agent_id = agent === undefined ? undefined : await findAgentId(workspace_id, agent);
        const hidden =
          (agent !== undefined && agent_id === undefined) ||
          (own !== null && agent_id !== undefined && agent_id !== own);
        if (hidden) return { status: 200, body: { data: [], next_cursor: null } };
        const wanted_agent = own ?? agent_id;
        const filters: DecisionFilters = {
          ...rest,
          ...(wanted_agent === undefined ? {} : { agent_id: wanted_agent }),
        };
        const found = await listDecisions(lists_db, workspace_id, filters, {
          order,
          after,
          limit: limit + 1,
        });
        const { rows, next_cursor } = pageOf(found, limit, (last) =>
          cursors.seal(list, last.made.decision_id),
        );
        return { status: 200, body: { data: await present(call.caller, rows), next_cursor } };
      },
    },
    {
      method: 'GET',
      path: '/v1/decisions/:id',
      operationId: 'getDecision',
      tag: 'Decisions',
      summary: 'Get one decision',
      description:
        'As it stands now: `effective_decision`, `review_state`, `reservation` with the live counters of its month, and `outcome_state` follow what happened since.',
      scopes: ['read'],
      agentKey: 'own',
      params: IdParams,
      responses: { 200: { description: 'The decision.', schema: DecisionBody } },
      errors: ['not_found'],
      handler: async (call: Call<{ id: string }, unknown, unknown>) => {
        const { workspace_id } = call.caller;
        const found = await findDecision(workspace_id, call.params.id);
        const own = onlyAgent(call);
        if (found === undefined || (own !== null && found.agent_id !== own)) {
          throw new ApiError('not_found', 'There is no such decision.');
        }
        return { status: 200, body: found.show(call.caller) };
      },
    },
  ];
}
