import type { Authority } from '@purser/contract/authority';
import type { Action } from '@purser/contract/decisions';
import { DEFAULT_DECISIONS, routes } from '@purser/contract/routes/simulations';
import { authorityHash } from '@purser/rules/domain/authorities';
import { decodeDecision } from '@purser/rules/domain/decision-document';
import type { PlacedEvent } from '@purser/rules/domain/decision-history';
import { ApiError, invalidField } from '@purser/rules/errors';
import { directoryAt } from '@purser/rules/merchants/directory';
import { missingList } from '@purser/rules/policy/authority-problem';
import { type KnownMerchantRow, knownMerchantKey } from '@purser/rules/policy/known-merchants';
import { needsKnownMerchant } from '@purser/rules/policy/new-merchant';
import type { AssessLevels } from '@purser/rules/purpose/built-in-assessor';
import { lengthOf } from '@purser/rules/values/slices';
import type pg from 'pg';
import { getAgent } from '../../engine/storage/agents.ts';
import { loadAuthorityVersions, parseAuthority } from '../../engine/storage/authorities.ts';
import type { Queryable } from '../../engine/storage/database.ts';
import { loadDecisionEvents } from '../../engine/storage/decision-events.ts';
import {
  listNewestDecisionIds,
  loadDecisionRecords,
  loadOriginalDocuments,
} from '../../engine/storage/decisions.ts';
import { loadKnownMerchants } from '../../engine/storage/derived/known-merchants.ts';
import { loadAnswers } from '../../engine/storage/derived/questions.ts';
import { loadEntriesOfAgent } from '../../engine/storage/merchant-entries.ts';
import { readAhead } from '../../engine/storage/pages.ts';
import { oneAtATime } from '../../engine/storage/transactions.ts';
import type { ReadChain } from '../allowances/chains.ts';
import { budgetsOfDraft } from '../decisions/shared-budgets.ts';
import { Simulation } from '../decisions/simulate.ts';
import { type Route, serve } from '../http/route.ts';
import type { Turns } from '../scheduling/turns.ts';

/** Decisions read at a time. */
const LOADED_AT_ONCE = 200;
const EVENTS_OF_AT_ONCE = 1_000;

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
  aside: Turns['aside'],
): AsyncGenerator<ReplayPage, void, void> {
  return readAhead<ReplayPage>(async (before) => {
    const begin = before?.end ?? 0;
    if (begin >= ids.length) return undefined;
    const wanted = ids.slice(begin, begin + LOADED_AT_ONCE);
    const rows = await aside(
      () => loadOriginalDocuments(db, workspace_id, wanted),
      (found) => ({ rows: found.length, bytes: lengthOf(found.map(({ document }) => document)) }),
    );
    const last = wanted.indexOf(rows.at(-1)?.decision_id ?? '');
    const end = begin + (last < 0 ? wanted.length : last + 1);
    return { documents: rows.map(({ document }) => document), end };
  });
}

/** Reads the authority versions that decided an agent's requests. Keeps the last one. */
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

/** Returns the current outcomes of these decisions. */
async function outcomesOf(db: Queryable, workspace_id: string, decision_ids: readonly string[]) {
  const records = await loadDecisionRecords(
    db,
    decision_ids.map((decision_id) => ({ workspace_id, decision_id })),
  );
  return new Map(records.map(({ decision, state }) => [decision.decision_id, state?.outcome_state]));
}

/** Trying out a draft of an authority on what an agent really asked for. */
export function makeSimulationRoutes(options: {
  db: pg.Pool;
  assessLevels: AssessLevels;
  readChain: ReadChain;
  turns: Turns;
}): Route[] {
  const { db, assessLevels, readChain, turns } = options;
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
      const simulation = new Simulation({
        draft,
        assessLevels,
        directory: directoryAt(agent.directory_version, entries),
        directoryAtVersion: (version) => directoryAt(version, entries),
        answers: (await loadAnswers(one_db, workspace_id, agent_id)).answers,
        events,
        budgets,
      });
      const judgedBy = makeJudgedBy(db, workspace_id, agent_id);
      const knownTo = needsKnownMerchant(draft) ? makeKnownTo(db, workspace_id, agent_id) : undefined;
      for await (const { documents } of pagesOf(db, workspace_id, ids, turns.aside)) {
        for (const document of documents) {
          const made = await turns.background(() => decodeDecision(document));
          const authority = await judgedBy(made.authority_version);
          const known = await knownTo?.(made.action);
          const under = made.allowance && (await readChain(workspace_id, made.allowance.id));
          await turns.background(() => simulation.replay(made, authority, known, under?.allowances));
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
