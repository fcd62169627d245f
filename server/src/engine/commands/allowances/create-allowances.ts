import type { CreateAllowance } from '@purser/contract/allowances/fields';
import { MAX_OPEN_CHILDREN } from '@purser/contract/values/allowances';
import { type Allowance, allowanceStatusAt, countersOfAllowance } from '@purser/rules/counters/allowances';
import type { Origin } from '@purser/rules/domain/audit';
import { loadedAllowances, whyNotOpen } from '@purser/rules/policy/allowances';
import { rootOf } from '../../allowances/allowances.ts';
import { type Command, type CommandResult, done, type Refusal, refuse } from '../../lane/command.ts';
import type { WorkingSet } from '../../lane/working-set.ts';
import { addKey, type NewKey, type NewKeyValue } from './add-key.ts';
import { type Made, whyNotMade } from './new-allowance.ts';
import { addAllowance, newRow, whyNoStanding } from './record-allowance.ts';

export interface NewAllowance {
  body: CreateAllowance;
  /** SHA-256 of the body in RFC 8785 form, hex. */
  body_hash: string;
  /** The parent and all above it, the nearest first, as they were read; their places never change. */
  above: readonly Allowance[];
  /** The value of the key that is made with it; null: none is. */
  key: NewKeyValue | null;
  /** Before the names of fields in refusals: `allowances[3].` of a batch. */
  prefix: string;
}

export interface CreateAllowancesInput {
  /** All are made or none. */
  allowances: readonly NewAllowance[];
  /** The key or person that makes them, for their external ids. */
  maker: string;
  /** The principal of the person or key that makes them. */
  acting_principal: string | null;
  /** The agent of an agent key, which makes parts alone that only narrow; null for everybody else. */
  agent_id: string | null;
}

export interface CreatedAllowance {
  allowance: Allowance;
  /** The key that was made with it. */
  key: NewKey | null;
  /** It was there already, made by the same body. */
  replayed: boolean;
}

/** Fields that no agent may set: they widen what a spend may be, or count elsewhere. */
const NOT_OF_AGENTS = ['purpose', 'expected_items', 'answers', 'automatic', 'budget'] as const;

function whyNotOfAgent({ body, prefix }: NewAllowance, { agent_id }: CreateAllowancesInput): Refusal | null {
  if (agent_id === null) return null;
  if (body.parent === undefined) {
    return {
      code: 'insufficient_scope',
      message: `${prefix}parent: an agent key makes parts of its allowances alone.`,
    };
  }
  const field = NOT_OF_AGENTS.find((each) => body[each] !== undefined);
  return field === undefined
    ? null
    : { code: 'insufficient_scope', message: `${prefix}${field}: only an administrator can set it.` };
}

/** Why no part of an allowance can be made: it, or one above it, cannot be used now. */
function whyNotBelow(set: WorkingSet, chain: readonly Allowance[], prefix: string): Refusal | null {
  for (const each of chain) {
    const closed = whyNotOpen(each, set.now_ms);
    if (closed !== null) return { code: 'allowance_not_open', message: `${prefix}parent: ${closed}` };
  }
  const [parent] = loadedAllowances(chain.slice(0, 1), set.counters);
  return parent !== undefined && allowanceStatusAt(parent, set.now_ms) === 'EXHAUSTED'
    ? { code: 'allowance_not_open', message: `${prefix}parent: nothing is left of it.` }
    : null;
}

export type One = CommandResult<CreatedAllowance>;

/** Finds what a body names, as the batch has it; a refusal where something is not there. */
function namedBy(set: WorkingSet, given: NewAllowance, input: CreateAllowancesInput): Made | Refusal {
  const { body, prefix, above } = given;
  const missing = (field: string, what: string): Refusal => ({
    code: 'not_found',
    message: `${prefix}${field}: no such ${what}.`,
  });
  const chain = set.allowances.all(above.map(({ allowance_id }) => allowance_id));
  const [parent = null] = chain;
  if (body.parent !== undefined && parent === null) return missing('parent', 'allowance');
  // What an agent makes is its own, also below an allowance of any agent.
  const ref = body.agent ?? (parent !== null && parent.agent_id === null ? input.agent_id : null);
  const agent = ref === null ? null : set.agent(ref);
  if (agent === undefined) return missing('agent', 'agent');
  if (input.agent_id !== null && agent !== null && agent.agent_id !== input.agent_id)
    return { code: 'agent_mismatch', message: `${prefix}agent: this key is bound to another agent.` };
  const budget = body.budget === undefined ? null : set.shared_budgets.find(body.budget);
  if (budget === undefined) return missing('budget', 'shared budget');
  return { body, agent, budget, parent, now_ms: set.now_ms };
}

/** Makes one allowance, without recording it; refused where its body, its parent or what it names does not permit it. */
export function makeOne(
  set: WorkingSet,
  given: NewAllowance,
  input: CreateAllowancesInput,
  origin: Origin,
): One {
  const { body, body_hash, prefix, above } = given;
  const external_id = body.external_id ?? null;
  const earlier =
    external_id === null ? undefined : set.allowances.byExternalId({ maker: input.maker, external_id });
  if (earlier !== undefined) {
    return earlier.body_hash === body_hash
      ? done({ allowance: earlier, key: null, replayed: true })
      : refuse('allowance_exists', `${prefix}external_id: already made another allowance; use a new one.`);
  }
  const not_of_agent = whyNotOfAgent(given, input);
  if (not_of_agent !== null) return { kind: 'refused', refusal: not_of_agent };
  const made = namedBy(set, given, input);
  if ('code' in made) return { kind: 'refused', refusal: made };
  const chain = set.allowances.all(above.map(({ allowance_id }) => allowance_id));
  const refusal = whyNotMade(made, prefix) ?? whyNotBelow(set, chain, prefix);
  if (refusal !== null) return { kind: 'refused', refusal };
  const { parent } = made;
  const is_of_agent = input.agent_id !== null;
  if (is_of_agent && parent !== null && set.allowances.openBelow(rootOf(parent)) >= MAX_OPEN_CHILDREN) {
    const message = `There are ${MAX_OPEN_CHILDREN} open allowances of agents below ${rootOf(parent)}.`;
    return refuse('allowance_limit', message);
  }
  return done({
    replayed: false,
    key: null,
    allowance: newRow(set, made, origin, {
      vouches: !is_of_agent,
      external_id,
      body_hash: external_id === null ? null : body_hash,
      made_by_agent: is_of_agent,
    }),
  });
}

/** Makes the key that was asked for with an allowance. */
function boundKey(
  set: WorkingSet,
  { key, body }: NewAllowance,
  { allowance_id, path, name, agent_id }: Allowance,
  origin: Origin,
): NewKey | null {
  if (key === null) return null;
  const expires_in_seconds = typeof body.key === 'object' ? body.key.expires_in_seconds : null;
  const of_agent = { kind: 'agent', scopes: ['authorize'], agent_id, principal_id: null } as const;
  const named = { name: name ?? allowance_id, allowance_path: path };
  return addKey(set, { ...key, ...of_agent, ...named, expires_in_seconds }, origin);
}

/**
 * Creates allowances, all or none. One that the same maker made before by the same external id and body is returned as it
 * is; by another body it is refused.
 */
export const createAllowances: Command<CreateAllowancesInput, CreatedAllowance[]> = {
  name: 'createAllowances',
  needs: ({ allowances, maker, agent_id, acting_principal }) => ({
    principals:
      acting_principal === null || allowances.every(({ key }) => key === null) ? [] : [acting_principal],
    agents: [...allowances.flatMap(({ body }) => body.agent ?? []), ...(agent_id === null ? [] : [agent_id])],
    shared_budgets: allowances.some(({ body }) => body.budget !== undefined) ? [] : undefined,
    allowances: allowances.flatMap(({ above }) => above.map((each) => each.allowance_id)),
    counters: allowances.flatMap(({ above }) => above.slice(0, 1).flatMap(countersOfAllowance)),
    allowances_of_agents: allowances.flatMap(({ body }) =>
      body.automatic === true ? (body.agent ?? []) : [],
    ),
    allowance_external_ids: allowances.flatMap(({ body: { external_id } }) =>
      external_id === undefined ? [] : { maker, external_id },
    ),
    open_allowances_below:
      agent_id === null ? [] : allowances.flatMap(({ above: [parent] }) => (parent ? rootOf(parent) : [])),
  }),
  apply(set, input, origin) {
    const made: CreatedAllowance[] = [];
    const by_id = new Map<string, { hash: string; made: CreatedAllowance }>();
    for (const given of input.allowances) {
      // One request may name the same id twice.
      const twin = given.body.external_id === undefined ? undefined : by_id.get(given.body.external_id);
      if (twin !== undefined && twin.hash !== given.body_hash)
        return refuse(
          'allowance_exists',
          `${given.prefix}external_id: is that of another allowance of this request.`,
        );
      const one: One =
        twin === undefined ? makeOne(set, given, input, origin) : done({ ...twin.made, replayed: true });
      if (one.kind !== 'done') return one;
      made.push(one.value);
      if (given.body.external_id !== undefined)
        by_id.set(given.body.external_id, { hash: given.body_hash, made: one.value });
    }
    const fresh = made.flatMap(({ allowance, replayed }) => (replayed ? [] : allowance));
    const refusal = whyNoStanding(set, fresh);
    if (refusal !== null) return { kind: 'refused', refusal };
    // After this point all of them are made: nothing may refuse them.
    return done(
      made.map((each, i) => {
        if (each.replayed) return each;
        addAllowance(set, each.allowance, origin);
        return { ...each, key: boundKey(set, input.allowances[i] as NewAllowance, each.allowance, origin) };
      }),
    );
  },
};
