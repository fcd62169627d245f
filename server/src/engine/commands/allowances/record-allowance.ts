import { MAX_STANDING } from '@purser/contract/values/allowances';
import type { Allowance } from '@purser/rules/counters/allowances';
import { termsOf } from '@purser/rules/counters/allowances';
import type { Origin } from '@purser/rules/domain/audit';
import type { Refusal } from '../../lane/command.ts';
import type { WorkingSet } from '../../lane/working-set.ts';
import { boundsOf, type Made } from './new-allowance.ts';

/** An allowance as the audit list shows it. */
export function auditedAllowance(allowance: Allowance) {
  const {
    agent_id,
    budget_id,
    parent_id,
    currency,
    amount_minor,
    period,
    expires_at,
    name,
    status,
    automatic,
  } = allowance;
  const { labels, purpose = null, answers } = termsOf(allowance);
  return {
    name,
    status,
    agent_id,
    budget_id,
    parent_id,
    currency,
    amount_minor,
    period,
    expires_at,
    labels,
    purpose,
    ...(answers.length === 0 ? {} : { answers }),
    ...(automatic ? { automatic } : {}),
  };
}

/** Makes the row of a new allowance, open and of an administrator where `given` says nothing else. */
export function newRow(set: WorkingSet, made: Made, origin: Origin, given: Partial<Allowance>): Allowance {
  const allowance_id = set.newId('allowance');
  return {
    allowance_id,
    path: [allowance_id, ...(made.parent?.path ?? [])],
    ...boundsOf(made),
    status: 'OPEN',
    vouches: true,
    external_id: null,
    body_hash: null,
    source: 'API',
    created_at: set.now,
    created_by_key_id: origin.actor.key_id,
    created_by_principal_id: origin.actor.principal_id,
    made_by_agent: false,
    issuer_id: null,
    decide_by: null,
    request: null,
    decided: null,
    revoked: null,
    told_period: null,
    told_percent: null,
    ...given,
  };
}

/** Another version of a standing approval makes one of its agent's; the command must need the agent. */
function noteStanding(set: WorkingSet, { automatic, agent_id }: Allowance): void {
  if (!automatic) return;
  const agent = set.agent(agent_id as string);
  if (agent === undefined) throw new Error(`the agent ${agent_id} was not loaded`);
  set.putAgent({ ...agent, allowances_version: set.head.seq });
}

/** Records a new allowance. Returns the id of the event. */
export function addAllowance(
  set: WorkingSet,
  allowance: Allowance,
  origin: Origin,
  action: 'allowance.created' | 'allowance.requested' = 'allowance.created',
): string {
  set.allowances.add(allowance);
  const event_id = set.audit(action, { type: 'allowance', id: allowance.allowance_id }, origin, {
    from: null,
    to: auditedAllowance(allowance),
    state: { allowance },
  });
  noteStanding(set, allowance);
  return event_id;
}

/** Records a change of an allowance, `more` beside its fields in the audit list. Returns the id of the event. */
export function changeAllowance(
  set: WorkingSet,
  { before, after, more = {} }: { before: Allowance; after: Allowance; more?: object },
  origin: Origin,
  action:
    | 'allowance.updated'
    | 'allowance.revoked'
    | 'allowance.granted'
    | 'allowance.denied'
    | 'allowance.threshold.reached',
): string {
  set.allowances.put(after);
  const [from, to] = [auditedAllowance(before), { ...auditedAllowance(after), ...more }];
  const target = { type: 'allowance', id: after.allowance_id } as const;
  const event_id = set.audit(action, target, origin, { from, to, state: { allowance: after } });
  noteStanding(set, after);
  return event_id;
}

/** Why an agent may have no more standing approvals beside those of the batch and of this request; null: it may. */
export function whyNoStanding(set: WorkingSet, fresh: readonly Allowance[]): Refusal | null {
  const agents = new Set(fresh.flatMap(({ automatic, agent_id }) => (automatic ? agent_id : [])));
  for (const agent_id of agents) {
    const there = set.allowances.ofAgent(agent_id as string, 'standing', set.now_ms).length;
    const added = fresh.filter((each) => each.automatic && each.agent_id === agent_id).length;
    if (there + added > MAX_STANDING)
      return {
        code: 'allowance_limit',
        message: `The agent would have over ${MAX_STANDING} standing approvals.`,
      };
  }
  return null;
}
