import { addToRows, type CounterRow } from '../counters/counters.ts';
import type { Agent } from '../domain/agents.ts';
import type { AuditedState, Origin } from '../domain/audit.ts';
import { type Authority, type AuthorityRow, authorityHash } from '../domain/authorities.ts';
import { type Command, done, refuse } from '../lane/command.ts';
import { MAX_DECISIONS_SINCE } from '../lane/tables.ts';
import type { WorkingSet } from '../lane/working-set.ts';
import { missingList } from '../policy/authority-problem.ts';
import { countedOfPast, missingIn, newCounterIds, type PastSpends } from '../policy/past-spends.ts';
import { budgetsProblem } from '../policy/shared-budgets.ts';
import { canonicalJson } from '../values/canonical-json.ts';

export interface CreateAuthorityInput {
  /** Id or slug. */
  agent: string;
  authority: Authority;
  note: string | null;
  /** The hash that the current version must have; null: whatever it is. */
  expected_hash: string | null;
  /** What its new limits over time are told of the spends before; null where it was thought to have none. */
  past: PastSpends | null;
}

/**
 * Adds the next version of an agent's authority; earlier versions are retained. A limit over time that the version before had
 * not begins with what was spent before, so that no second limit of a day comes with an edit. The result is stale if the past
 * was read for other limits than those that are new now, or if too much was spent since.
 */
export const createAuthority: Command<CreateAuthorityInput, AuthorityRow, null> = {
  name: 'createAuthority',
  needs: ({ agent, authority, past }) => ({
    agents: [agent],
    shared_budgets: authority.budgets,
    ...(past === null
      ? {}
      : {
          whole_counters: past.counter_ids,
          decisions_since: { agent_id: past.agent_id, after: past.upto },
        }),
  }),
  apply(set, input, origin) {
    const agent = set.agent(input.agent);
    if (agent === undefined) return refuse('not_found', 'There is no such agent.');
    const { authority, note, expected_hash } = input;
    if (expected_hash !== null && agent.authority_hash !== expected_hash) {
      const current =
        agent.authority_version === null
          ? 'the agent has no authority'
          : `it is at version ${agent.authority_version} (${agent.authority_hash})`;
      return refuse(
        'authority_changed',
        `The authority is not the one that if-match names: ${current}. Read it again and decide anew.`,
      );
    }
    const missing = missingList(authority, agent.directory_version);
    if (missing !== null) return refuse('invalid_request', `${missing.field}: ${missing.problem}`);
    const wrong = budgetsProblem(authority, set.shared_budgets.all());
    if (wrong !== null) return refuse(wrong.code, `${wrong.field}: ${wrong.problem}`);
    const wanted = newCounterIds(agent.agent_id, set.authority(agent.agent_id)?.authority ?? null, authority);
    if (wanted.length === 0) return done(addAuthorityVersion(set, agent, { authority, note }, origin).row);
    const primed = primedBy(set, authority, wanted, input.past);
    if (primed === null) return { kind: 'stale', current: null };
    return done(addAuthorityVersion(set, agent, { authority, note, primed }, origin).row);
  },
};

/** What new counters begin with; null if the past was not read for them, or too much happened since. */
function primedBy(
  set: WorkingSet,
  authority: Authority,
  counter_ids: readonly string[],
  past: PastSpends | null,
): NonNullable<AuditedState['primed']> | null {
  if (past === null || counter_ids.some((id) => !past.counter_ids.includes(id))) return null;
  const since = set.decisionsSince(past.agent_id);
  if (since.length >= MAX_DECISIONS_SINCE) return null;
  const wanted = new Set(counter_ids);
  const rows = new Map<string, CounterRow>();
  for (const row of past.counters) if (wanted.has(row.counter_id)) addToRows(rows, row);
  for (const decision of since) {
    for (const row of countedOfPast(authority, wanted, decision, [], set.now)) addToRows(rows, row);
  }
  // A limit that was there before, and away meanwhile, has counted a part of it already.
  const counters = [...rows.values()].flatMap((row) =>
    row.until <= set.now ? [] : (missingIn(set.counters.slot(row), row) ?? []),
  );
  return { counter_ids: [...counter_ids], counters, counted_since: past.counted_since };
}

/** Adds the version after the agent's current one, with its audit record. `primed` is added to the counters of its limits. */
export function addAuthorityVersion(
  set: WorkingSet,
  agent: Agent,
  version: Pick<CreateAuthorityInput, 'authority' | 'note'> & Pick<AuditedState, 'primed'>,
  origin: Origin,
): { agent: Agent; row: AuthorityRow } {
  const { authority, note, primed } = version;
  const before = set.authority(agent.agent_id);
  const row: AuthorityRow = {
    agent_id: agent.agent_id,
    version: (agent.authority_version ?? 0) + 1,
    hash: authorityHash(authority),
    authority: canonicalJson(authority),
    created_at: set.now,
    key_id: origin.actor.key_id,
    principal_id: origin.actor.principal_id,
    note,
  };
  const changed: Agent = {
    ...agent,
    authority_version: row.version,
    authority_hash: row.hash,
    updated_at: set.now,
  };
  set.addAuthority(row);
  set.putAgent(changed);
  set.audit('authority.created', { type: 'authority', id: agent.agent_id }, origin, {
    from:
      before === null
        ? null
        : { version: before.row.version, hash: before.row.hash, authority: before.authority },
    to: { version: row.version, hash: row.hash, authority, ...(note === null ? {} : { note }) },
    state: { agent: changed, authority: row, ...(primed === undefined ? {} : { primed }) },
  });
  for (const each of primed?.counters ?? []) set.counters.add(each);
  return { agent: changed, row };
}
