import { route } from '@purser/contract/route';
import type { Assess } from '@purser/rules/domain/assessment';
import { type Authority, authorityHash } from '@purser/rules/domain/authorities';
import { decodeDecision } from '@purser/rules/domain/decision-document';
import type { PlacedEvent } from '@purser/rules/domain/decision-history';
import { DECISIONS, OUTCOME_STATES, REASON_CODES } from '@purser/rules/domain/decisions';
import { LABELS } from '@purser/rules/domain/labels';
import type { Action } from '@purser/rules/domain/spends';
import { ApiError, invalidField } from '@purser/rules/errors';
import { directoryAt } from '@purser/rules/merchants/directory';
import { missingList } from '@purser/rules/policy/authority-problem';
import { type KnownMerchantRow, knownMerchantKey } from '@purser/rules/policy/known-merchants';
import { asksForKnown } from '@purser/rules/policy/new-merchant';
import type pg from 'pg';
import Type from 'typebox';
import { getAgent } from '../../engine/storage/agents.ts';
import { loadAuthorityVersions, parseAuthority } from '../../engine/storage/authorities.ts';
import type { Queryable } from '../../engine/storage/database.ts';
import { loadDecisionEvents } from '../../engine/storage/decision-events.ts';
import {
  listNewestDecisionIds,
  loadDecisionRecords,
  loadMadeDocuments,
} from '../../engine/storage/decisions.ts';
import { loadKnownMerchants } from '../../engine/storage/derived/known-merchants.ts';
import { loadEntriesOfAgent } from '../../engine/storage/merchant-entries.ts';
import { readAhead } from '../../engine/storage/pages.ts';
import { oneAtATime } from '../../engine/storage/transactions.ts';
import { budgetsOfDraft } from '../decisions/shared-budgets.ts';
import { makeSimulation, SKIP_REASONS } from '../decisions/simulate.ts';
import { type Route, serve } from '../http/route.ts';
import {
  Fields,
  Id,
  LimitMinor,
  Nullable,
  OneOf,
  QueryBound,
  QueryInteger,
  Timestamp,
} from '../http/schemas.ts';
import type { WorkTime } from '../scheduling/work-time.ts';
import { AuthorityBody } from './schemas/authorities.ts';

const DEFAULT_DECISIONS = 500;
const MAX_DECISIONS = 50_000;
/** Decisions read at a time. */
const LOADED_AT_ONCE = 200;
const EVENTS_OF_AT_ONCE = 1_000;
/** All replays and tests of a process share one part of its time, whoever asks for them. */
export const REPLAYS = 'replays';

const Count = (description?: string) =>
  Type.Integer({ minimum: 0, ...(description === undefined ? {} : { description }) });
const Kind = OneOf(DECISIONS);
const Reason = OneOf(REASON_CODES);

const Kinds = { allow: Count(), review: Count(), deny: Count() };
const Tally = Fields({
  ...Kinds,
  authorized_minor: LimitMinor({
    description: 'The amount that could be spent at once; a REVIEW authorizes nothing yet.',
  }),
});

const SimulationBody = Fields(
  {
    saved: Type.Literal(false, { description: 'Nothing is saved.' }),
    base_version: Nullable(
      Type.Integer({ minimum: 1, description: "The agent's current version; null if it has no authority." }),
    ),
    draft_hash: Type.String({
      pattern: '^sha256:[0-9a-f]{64}$',
      description: 'The hash that the draft would have if saved.',
    }),
    evaluated: Count('Number of replayed decisions.'),
    skipped: Type.Array(
      Fields({
        reason: OneOf(SKIP_REASONS, {
          description: "CURRENCY_DIFFERS: in a currency other than the draft's, so none of its limits apply.",
        }),
        count: Count(),
      }),
    ),
    current: Tally,
    draft: Tally,
    transitions: Type.Array(
      Fields({
        from: Kind,
        to: Kind,
        count: Count(),
        amount_minor: LimitMinor({ description: 'As requested.' }),
      }),
      { description: 'Decisions that would have been different.' },
    ),
    changed: Type.Array(
      Fields({
        decision_id: Id('decision'),
        created_at: Timestamp(),
        merchant: Type.String(),
        amount_minor: LimitMinor({ description: 'As requested.' }),
        current: Fields({ decision: Kind, reason_code: Reason }),
        draft: Fields({ decision: Kind, reason_code: Reason, authorized_amount_minor: LimitMinor() }),
        label: Nullable(OneOf(LABELS, { description: 'The current label.' })),
        outcome_state: OneOf(OUTCOME_STATES, { description: 'Its outcome.' }),
      }),
      {
        maxItems: 100,
        description:
          'The newest 100 whose decision, first reason or amount would have been different; newest first.',
      },
    ),
    by_label: Type.Array(Fields({ label: OneOf(LABELS), from: Kind, to: Kind, count: Count() }), {
      description: 'The labelled decisions among all that would have been different, by their current label.',
    }),
    by_reason: Type.Array(Fields({ reason_code: Reason, current: Count(), draft: Count() }), {
      description: 'By first reason, most frequent first.',
    }),
    by_day: Type.Array(
      Fields({
        day: Type.String({ format: 'date', examples: ['2026-11-21'] }),
        current: Fields(Kinds),
        draft: Fields(Kinds),
      }),
      { description: 'UTC days with decisions, oldest first.' },
    ),
  },
  {
    $id: 'Simulation',
    description: "Amounts are minor units of the draft's currency.",
  },
);

const SimulateQuery = Fields({
  limit: Type.Optional(
    QueryInteger(
      { min: 1, max: MAX_DECISIONS, default: DEFAULT_DECISIONS },
      { description: "Number of the agent's newest decisions to replay." },
    ),
  ),
  from: Type.Optional(
    QueryBound('from', { description: 'Only decisions made at or after this time or date.' }),
  ),
  to: Type.Optional(
    QueryBound('to', { description: 'Only decisions made before this time, or up to the end of this date.' }),
  ),
});

/** Documents that were read together, and the number of ids that they complete. */
interface ReplayPage {
  documents: string[];
  end: number;
}

/** Reads the decisions of these ids page by page. */
function pagesOf(
  db: Queryable,
  workspace_id: string,
  ids: readonly string[],
): AsyncGenerator<ReplayPage, void, void> {
  return readAhead<ReplayPage>(async (before) => {
    const begin = before?.end ?? 0;
    if (begin >= ids.length) return undefined;
    const wanted = ids.slice(begin, begin + LOADED_AT_ONCE);
    const rows = await loadMadeDocuments(db, workspace_id, wanted);
    const last = wanted.indexOf(rows.at(-1)?.decision_id ?? '');
    const end = begin + (last < 0 ? wanted.length : last + 1);
    return { documents: rows.map(({ document }) => document), end };
  });
}

/** The authorities that an agent's decisions were made by, of which the one named last is kept. */
function makeJudgedBy(db: Queryable, workspace_id: string, agent_id: string) {
  let known: { version: number | null; authority: Authority | null } = { version: null, authority: null };
  return async (version: number | null): Promise<Authority | null> => {
    if (version === known.version) return known.authority;
    const [row] = version === null ? [] : await loadAuthorityVersions(db, workspace_id, agent_id, [version]);
    known = { version, authority: row === undefined ? null : parseAuthority(row) };
    return known.authority;
  };
}

/** Finds out when an agent came to be known to have paid whom a spend pays, and asks once for each. */
function makeKnownTo(db: Queryable, workspace_id: string, agent_id: string) {
  const asked = new Map<string, KnownMerchantRow | undefined>();
  return async (action: Action): Promise<KnownMerchantRow | undefined> => {
    const key = knownMerchantKey(action);
    if (!asked.has(key)) asked.set(key, (await loadKnownMerchants(db, [{ workspace_id, agent_id, key }]))[0]);
    return asked.get(key);
  };
}

/** What became of these decisions until today. */
async function outcomesOf(db: Queryable, workspace_id: string, decision_ids: readonly string[]) {
  const records = await loadDecisionRecords(
    db,
    decision_ids.map((decision_id) => ({ workspace_id, decision_id })),
  );
  return new Map(records.map(({ decision, state }) => [decision.decision_id, state?.outcome_state]));
}

const routes = {
  simulateAuthority: route({
    method: 'POST',
    path: '/v1/agents/:id/authority/simulate',
    operationId: 'simulateAuthority',
    tag: 'Agents',
    summary: 'Try out a draft authority on recent real decisions',
    description:
      "Replays the agent's newest decisions, oldest first, each against the month's budget at that time. Holds that the draft would have changed follow the spend's real outcome (executed, failed, refunded, denied by a person). The authority that the decisions were made under therefore changes nothing. Uses the agent's current listed merchants; merchants it had paid by then count as known. Nothing is saved. Purpose is assessed again only if the draft changes what the assessment depends on.",
    scopes: ['admin'],
    weighs: false,
    params: Fields({ id: Type.String({ description: "The agent's id or slug." }) }),
    query: SimulateQuery,
    body: AuthorityBody,
    responses: {
      200: { description: 'The changes that the draft would have made.', schema: SimulationBody },
    },
    errors: ['not_found'],
  }),
};

/** Trying out a draft of an authority on what an agent really asked for. */
export function makeSimulationRoutes(options: {
  db: pg.Pool;
  assess: Assess;
  /** The time of the event loop that replays may take. */
  replay_time: WorkTime;
}): Route[] {
  const { db, assess, replay_time } = options;
  return [
    serve(routes.simulateAuthority, { takes_long: true, shares: 'simulations' })(async (call) => {
      const { workspace_id } = call.caller;
      const draft = call.body;
      const agent = await getAgent(db, workspace_id, call.params.id);
      if (agent === undefined) throw new ApiError('not_found', 'No such agent.');
      const missing = missingList(draft, agent.directory_version);
      if (missing !== null) throw invalidField(missing.field, missing.problem);
      const budgets = await budgetsOfDraft(db, workspace_id, draft);
      const { agent_id } = agent;
      const { limit = DEFAULT_DECISIONS, from, to } = call.query;
      const ids = await listNewestDecisionIds(db, workspace_id, agent_id, {
        from_ms: from === undefined ? null : Date.parse(from),
        to_ms: to === undefined ? null : Date.parse(to),
        limit,
      });
      // One query at a time: a simulation is in no hurry, and the connections are everybody's.
      const one_db = oneAtATime(db);
      const events: PlacedEvent[] = [];
      for (let at = 0; at < ids.length; at += EVENTS_OF_AT_ONCE) {
        const some = ids.slice(at, at + EVENTS_OF_AT_ONCE);
        for (const of of (await loadDecisionEvents(one_db, workspace_id, some)).values()) events.push(...of);
      }
      const entries = await loadEntriesOfAgent(one_db, workspace_id, agent_id);
      const simulation = makeSimulation({
        draft,
        assess,
        directory: directoryAt(agent.directory_version, entries),
        directoryAtVersion: (version) => directoryAt(version, entries),
        events,
        budgets,
      });
      const judgedBy = makeJudgedBy(db, workspace_id, agent_id);
      const knownTo = asksForKnown(draft) ? makeKnownTo(db, workspace_id, agent_id) : undefined;
      for await (const { documents } of pagesOf(db, workspace_id, ids)) {
        for (const document of documents) {
          const made = await replay_time.spend(REPLAYS, () => decodeDecision(document));
          const authority = await judgedBy(made.authority_version);
          const known = await knownTo?.(made.action);
          await replay_time.spend(REPLAYS, () => simulation.replay(made, authority, known));
        }
      }
      const { changed, ...result } = simulation.result();
      const outcomes = await outcomesOf(
        one_db,
        workspace_id,
        changed.map(({ decision_id }) => decision_id),
      );
      return {
        status: 200,
        body: {
          saved: false,
          base_version: agent.authority_version,
          draft_hash: authorityHash(draft),
          ...result,
          changed: changed.map((each) => ({
            ...each,
            outcome_state: outcomes.get(each.decision_id) ?? 'NONE',
          })),
        },
      };
    }),
  ];
}
