import type { Decision } from '@purser/contract/decisions';
import type { Agent } from '@purser/rules/domain/agents';
import { capabilityIdOf, capabilityStatusAt, consumptionSummary } from '@purser/rules/domain/capabilities';
import { decodeDecision, withLiveFields, withToken } from '@purser/rules/domain/decision-document';
import { type LiveFields, liveFields } from '@purser/rules/domain/decision-states';
import type { DecisionCore } from '@purser/rules/domain/decisions';
import type { Caller } from '@purser/rules/domain/keys';
import { type ReviewRow, reviewBody } from '@purser/rules/domain/reviews';
import { approvalsAmong } from '@purser/rules/reviews/places';
import { pushTo } from '@purser/rules/values/maps';
import { inSlices } from '@purser/rules/values/slices';
import type pg from 'pg';
import type { CreatedDecision } from '../../engine/commands/create-decision.ts';
import { loadAgents } from '../../engine/storage/agents.ts';
import { makeWorkspaceBatchLoader } from '../../engine/storage/batch-loader.ts';
import { loadConsumptions } from '../../engine/storage/consumptions.ts';
import {
  type DecisionCoreRecord,
  type DecisionRecord,
  type ListedDecision,
  loadDecisionRecords,
} from '../../engine/storage/decisions.ts';
import { listBudgets } from '../../engine/storage/derived/budgets.ts';
import { loadLabels } from '../../engine/storage/labels.ts';
import { loadReviews, loadReviewsOfDecisions } from '../../engine/storage/reviews.ts';
import { readClock } from '../../engine/storage/workspaces.ts';
import { isWithinAllowance } from '../allowances/may-see.ts';
import type { JsonText } from '../http/route.ts';
import type { CapabilityTokens } from '../installation/secrets.ts';

/** Limits of the batch loader, for each workspace. */
const MAX_BATCH = 100;
const MAX_WAITING = 5_000;
/** More than one, so that a statement that hangs does not block all lookups. */
const MAX_CONCURRENT = 2;

const NO_COUNTER = { held_minor: 0, committed_minor: 0 };

/** A capability's token is shown to the key that asked for the decision, and to the agent's own keys. */
const maySeeToken = (caller: Caller, decision: Pick<Decision, 'requested_by' | 'agent'>) =>
  caller.key_id === decision.requested_by.key_id || caller.agent_id === decision.agent.id;

/** The only agent whose decisions a caller may see; null if it may see all of its workspace. */
export const agentScopeOf = (caller: Caller): string | null =>
  caller.kind === 'agent' ? caller.agent_id : null;

const budgetKeyOf = ({ agent, reservation, currency }: DecisionCore) => ({
  agent_id: agent.id,
  period: reservation.period,
  currency,
});
const nameOf = ({ agent_id, period, currency }: ReturnType<typeof budgetKeyOf>) =>
  `${agent_id} ${period} ${currency}`;

/** Looks up what the views of some decisions need. Sends no query for a kind that none of them has. */
async function loadLive(db: pg.Pool, workspace_id: string, rows: readonly DecisionCoreRecord[]) {
  const review_ids = rows.flatMap(({ state }) => state?.review_id ?? []);
  const label_ids = rows.flatMap(({ state }) => state?.label_id ?? []);
  const consumed_ids = rows.flatMap(({ state }) =>
    typeof state?.capability_consumed_at === 'string' ? capabilityIdOf(state.decision_id) : [],
  );
  const enforced = new Set(
    rows.flatMap(({ decision }) => (decision.mode === 'ENFORCE' ? decision.agent.id : [])),
  );
  const several_ids = rows.flatMap(({ state }) =>
    state !== null && state.approvals > 0 ? state.decision_id : [],
  );
  const counted = new Map(rows.map(({ decision }) => budgetKeyOf(decision)).map((key) => [nameOf(key), key]));
  const [budgets, clock_ms, reviews, several, labels, consumptions, agents] = await Promise.all([
    listBudgets(db, workspace_id, [...counted.values()]),
    readClock(db),
    review_ids.length === 0 ? [] : loadReviews(db, workspace_id, review_ids),
    several_ids.length === 0 ? [] : loadReviewsOfDecisions(db, workspace_id, several_ids),
    label_ids.length === 0 ? [] : loadLabels(db, workspace_id, label_ids),
    consumed_ids.length === 0 ? [] : loadConsumptions(db, workspace_id, consumed_ids),
    enforced.size === 0 ? [] : loadAgents(db, workspace_id, [...enforced]),
  ]);
  const approvals = new Map<string, ReviewRow[]>();
  for (const row of approvalsAmong(several)) pushTo(approvals, row.decision_id, row);
  return {
    clock_ms,
    counters: new Map(budgets.map((row) => [nameOf(row), row])),
    reviews: new Map(reviews.map((row) => [row.review_id, reviewBody(row)])),
    approvals,
    labels: new Map(labels.map((label) => [label.label_id, label])),
    consumptions: new Map(consumptions.map((each) => [each.capability_id, each])),
    agents: new Map(agents.map((agent) => [agent.agent_id, agent])),
  };
}

type Live = Awaited<ReturnType<typeof loadLive>>;

/** The fields of a record that change, as they are now; its capability has no token. */
function fieldsOf({ decision, state }: DecisionCoreRecord, live: Live): LiveFields {
  const review = live.reviews.get(state?.review_id ?? '') ?? null;
  const single = review?.action === 'ALLOW' ? [review] : [];
  const fields = liveFields(
    decision,
    state,
    {
      approvals: live.approvals.get(decision.decision_id)?.map(reviewBody) ?? single,
      counter: live.counters.get(nameOf(budgetKeyOf(decision))) ?? NO_COUNTER,
      review,
      label: live.labels.get(state?.label_id ?? '') ?? null,
    },
    live.clock_ms,
  );
  const { capability } = fields;
  if (capability === null) return fields;
  const agent = live.agents.get(decision.agent.id) as Agent;
  const status = capabilityStatusAt(capability, agent, live.clock_ms);
  const used = live.consumptions.get(capability.capability_id);
  const consumption = used === undefined ? {} : { consumption: consumptionSummary(used) };
  return { ...fields, capability: { ...capability, status, ...consumption } };
}

/** The current view of a record, without token. */
const viewOf = (record: DecisionRecord, live: Live): Decision => ({
  ...record.decision,
  ...fieldsOf(record, live),
});

/** The JSON of a page in pieces, each decision written when its turn comes. */
function* piecesOf(rows: readonly ListedDecision[], live: Live, next_cursor: string | null) {
  yield '{"data":[';
  let before = '';
  for (const row of rows) {
    const text =
      row.text === null ? JSON.stringify(viewOf(row, live)) : withLiveFields(row.text, fieldsOf(row, live));
    yield before + text;
    before = ',';
  }
  yield `],"next_cursor":${JSON.stringify(next_cursor)}}`;
}

/**
 * Decisions as a caller may see them. Adds live counters, the latest review and label, and the agent's status to each record.
 */
export class DecisionView {
  readonly #db: pg.Pool;
  readonly #tokens: CapabilityTokens;
  readonly #load: (workspace_id: string, decision_id: string) => Promise<Decision | undefined>;

  constructor({ db, tokens }: { db: pg.Pool; tokens: CapabilityTokens }) {
    this.#db = db;
    this.#tokens = tokens;
    this.#load = makeWorkspaceBatchLoader<string, Decision>((workspace_id) => ({
      keyOf: (decision_id) => decision_id,
      load: async (decision_ids) => {
        const keys = decision_ids.map((decision_id) => ({ workspace_id, decision_id }));
        const views = await this.#views(workspace_id, await loadDecisionRecords(db, keys));
        return new Map(views.map((view) => [view.decision_id, view]));
      },
      max_batch: MAX_BATCH,
      max_waiting: MAX_WAITING,
      max_concurrent: MAX_CONCURRENT,
    }));
  }

  /** The current view of each record, in the order given. No capability has its token: lists and exports never show it. */
  present(
    { workspace_id }: Pick<Caller, 'workspace_id'>,
    rows: readonly DecisionRecord[],
  ): Promise<Decision[]> {
    return this.#views(workspace_id, rows);
  }

  /** The JSON of a page: `present`, and where the next page begins. */
  async pageOf(
    { workspace_id }: Pick<Caller, 'workspace_id'>,
    rows: readonly ListedDecision[],
    next_cursor: string | null,
  ): Promise<JsonText> {
    return inSlices(piecesOf(rows, await loadLive(this.#db, workspace_id, rows), next_cursor));
  }

  /**
   * The current view of one decision, with its capability's token if the caller may see it; undefined if there is none that
   * the caller may see.
   */
  async find(caller: Caller, decision_id: string): Promise<Decision | undefined> {
    const found = await this.#load(caller.workspace_id, decision_id);
    const own = agentScopeOf(caller);
    if (found === undefined || (own !== null && found.agent.id !== own)) return undefined;
    if (!(await isWithinAllowance(this.#db, caller, decision_id))) return undefined;
    const { capability } = found;
    if (capability === null || !maySeeToken(caller, found)) return found;
    const token = this.#tokens.of(caller.workspace_id, capability.capability_id);
    return { ...found, capability: Object.assign({ token }, capability) };
  }

  /**
   * The stored answer to a request, with the capability's token if the caller may see it. `made_by` is the request that a
   * replay repeats; null where it was not stored, and for a new decision.
   */
  answer(caller: Caller, created: CreatedDecision): { json: string; made_by: string | null } {
    const { document, decided } = created;
    // The key that created the decision may see the token; a replay may come from another key.
    const original = decided === null ? decodeDecision(document) : null;
    const may_see = original === null || maySeeToken(caller, original);
    const capability_id = original?.capability?.capability_id ?? decided?.capability_id ?? null;
    const made_by = original?.request_id ?? null;
    if (capability_id === null || !may_see) return { json: document, made_by };
    return { json: withToken(created, this.#tokens.of(caller.workspace_id, capability_id)), made_by };
  }

  async #views(workspace_id: string, rows: readonly DecisionRecord[]): Promise<Decision[]> {
    if (rows.length === 0) return [];
    const live = await loadLive(this.#db, workspace_id, rows);
    return rows.map((row) => viewOf(row, live));
  }
}
