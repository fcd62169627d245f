import type { Authority } from '@purser/contract/authority';
import { addToRows, type CounterRow } from '@purser/rules/counters/counters';
import type { Agent } from '@purser/rules/domain/agents';
import type { AuditedState, Origin } from '@purser/rules/domain/audit';
import { type AuthorityRow, authorityHash, type JoinedLimits } from '@purser/rules/domain/authorities';
import { missingList } from '@purser/rules/policy/authority-problem';
import { countedOfPast, newCounterIds, type PastSpends } from '@purser/rules/policy/past-spends';
import { budgetsProblem } from '@purser/rules/policy/shared-budgets';
import { canonicalJson } from '@purser/rules/values/canonical-json';
import { type Command, done, refuse } from '../lane/command.ts';
import { MAX_EVENTS_SINCE } from '../lane/tables.ts';
import type { WorkingSet } from '../lane/working-set.ts';

export interface CreateAuthorityInput {
  /** Id or slug. */
  agent: string;
  authority: Authority;
  note: string | null;
  /** The hash that the current version must have; null: whatever it is. */
  expected_hash: string | null;
  /** Usage of earlier spends in its new limits over time; null if it was assumed to have none. */
  past: PastSpends | null;
}

/**
 * Adds the next version of an agent's authority; earlier versions are retained. A limit over time that the version before did
 * not have counts the spends before it too, and follows whatever becomes of them. The result is stale if the past was read
 * beside another version, or if too much happened since.
 */
export const createAuthority: Command<CreateAuthorityInput, AuthorityRow, null> = {
  name: 'createAuthority',
  needs: ({ agent, authority, past }) => ({
    agents: [agent],
    shared_budgets: authority.budgets,
    ...(past === null
      ? {}
      : {
          changed_decisions: { agent_id: past.agent_id, after_seq: past.seq },
        }),
  }),
  apply(set, input, origin) {
    const agent = set.agent(input.agent);
    if (agent === undefined) return refuse('not_found', 'No such agent.');
    const { authority, note, expected_hash } = input;
    if (expected_hash !== null && agent.authority_hash !== expected_hash) {
      const current =
        agent.authority_version === null
          ? 'the agent has no authority'
          : `it is at version ${agent.authority_version} (${agent.authority_hash})`;
      return refuse(
        'authority_changed',
        `if-match names another version of the authority: ${current}. Read it again and repeat the change.`,
      );
    }
    const missing = missingList(authority, agent.directory_version);
    if (missing !== null) return refuse('invalid_request', `${missing.field}: ${missing.problem}`);
    const wrong = budgetsProblem(authority, set.shared_budgets.all());
    if (wrong !== null) return refuse(wrong.code, `${wrong.field}: ${wrong.problem}`);
    const wanted = newCounterIds(agent.agent_id, set.authority(agent.agent_id)?.authority ?? null, authority);
    if (wanted.length === 0) return done(addAuthorityVersion(set, agent, { authority, note }, origin).row);
    const counted = countedBefore(set, agent, authority, wanted, input.past);
    if (counted === null) return { kind: 'stale', current: null };
    return done(addAuthorityVersion(set, agent, { authority, note, ...counted }, origin).row);
  },
};

/** Starting sums of an authority's new limits. */
type CountedBefore = Pick<AuditedState, 'primed'> & { joined: JoinedLimits };

/** The initial contents of new counters; null if the past was not read for them, or too much happened since. */
function countedBefore(
  set: WorkingSet,
  { agent_id, authority_version }: Agent,
  authority: Authority,
  counter_ids: string[],
  past: PastSpends | null,
): CountedBefore | null {
  if (past === null || past.authority_version !== authority_version) return null;
  if (set.eventsSince(past.seq) > MAX_EVENTS_SINCE) return null;
  const rows = new Map<string, CounterRow>();
  const add = (row: CounterRow) => addToRows(rows, row);
  past.counters.forEach(add);
  // What was read of decisions that changed meanwhile is taken out again.
  const { decisions, expired } = set.records.changedOf(agent_id);
  const replaced = [...expired, ...decisions.map(({ decision }) => decision.decision_id)];
  for (const id of replaced) past.counted.get(id)?.map(negative).forEach(add);
  for (const record of decisions) {
    if (record.decision.decision_id < past.from) continue;
    countedOfPast(authority, past, record, set.now).forEach(add);
  }
  const counters = [...rows.values()].filter(
    (row) => row.until > set.now && (row.count !== 0 || row.held_minor !== 0 || row.committed_minor !== 0),
  );
  const place = set.newId('event').slice('evt_'.length);
  return {
    primed: { counter_ids, counters, counted_since: past.counted_since },
    joined: { counter_ids, from: past.from, place },
  };
}

const negative = (row: CounterRow): CounterRow => ({
  ...row,
  count: -row.count,
  held_minor: -row.held_minor,
  committed_minor: -row.committed_minor,
  decision_id: null,
});

/** Adds the version after the agent's current one, with its audit record. `primed` is added to the counters of the limits that joined. */
export function addAuthorityVersion(
  set: WorkingSet,
  agent: Agent,
  version: Pick<CreateAuthorityInput, 'authority' | 'note'> & Partial<CountedBefore>,
  origin: Origin,
): { agent: Agent; row: AuthorityRow } {
  const { authority, note, primed, joined } = version;
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
    joined: joined === undefined ? null : canonicalJson(joined),
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
