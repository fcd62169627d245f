import type { CreateAllowance } from '@purser/contract/allowances/fields';
import type { Mandate } from '@purser/contract/allowances/mandates';
import { MAX_ALLOWANCE_DEPTH } from '@purser/contract/values/allowances';
import { type AllowanceIssuer, principalOfIssuer } from '@purser/rules/allowances/issuers';
import { type Allowance, countersOfAllowance, termsOf } from '@purser/rules/counters/allowances';
import type { Origin } from '@purser/rules/domain/audit';
import { type Command, type CommandResult, done, refuse } from '../../lane/command.ts';
import type { WorkingSet } from '../../lane/working-set.ts';
import { type CreatedAllowance, makeOne, type One } from './create-allowances.ts';
import { whyNotMade } from './new-allowance.ts';
import { asInvalid, ofIssuer, type Presenter, whyNotTheirs } from './present-allowance.ts';
import { addAllowance, newRow } from './record-allowance.ts';

/** A time that a claim or a constraint sets, with its name. */
export interface MandateTime {
  name: string;
  at_ms: number;
}

/** A mandate whose signatures and bindings are good, as the allowance that it makes. Nothing of its time is judged. */
export interface OpenedMandate {
  /** SHA-256 of the JWT that carries it, hex, and of that JWT with its signature in the other form that is as good. */
  identities: readonly [own: string, other: string];
  /** When the agent bound it to this workspace, and until when that is good: Unix seconds. */
  binding: { iat: number; exp: number | null };
  /** From when it can be used, and until when: all of them hold. */
  starts: readonly MandateTime[];
  ends: readonly MandateTime[];
  body: Pick<CreateAllowance, 'amount_minor' | 'per_spend_limit_minor' | 'max_count' | 'merchants'> & {
    currency: string;
  };
  /** It can be used once in each; null: as often as `body` says. */
  period: Exclude<Allowance['period'], 'TOTAL'> | null;
  mandate: Mandate;
}

export interface PresentMandateInput extends OpenedMandate, Presenter {
  /** The issuers whose key signed it, the oldest first, each with its parent and all above that, the nearest first. */
  issuers: readonly { issuer_id: string; above: readonly Allowance[] }[];
}

/** How old a key binding may be, and how far ahead. */
const BINDING_S = 300;

/** Why nothing of a mandate may be accepted now; null: it may. */
function whyNotNow({ binding, starts, ends }: OpenedMandate, now_ms: number): string | null {
  if (Math.abs(now_ms - binding.iat * 1_000) > BINDING_S * 1_000)
    return `key binding iat: must be within ${BINDING_S} seconds of now.`;
  if (binding.exp !== null && binding.exp * 1_000 <= now_ms) return 'key binding exp: has passed.';
  const early = starts.find(({ at_ms }) => at_ms > now_ms);
  if (early !== undefined) return `${early.name}: lies in the future.`;
  const late = ends.find(({ at_ms }) => at_ms <= now_ms);
  return late === undefined ? null : `${late.name}: has passed.`;
}

/** Why a mandate is beyond what its issuer may sign, or its agent may have; null: it is within. */
function whyBeyond(issuer: AllowanceIssuer, { body }: OpenedMandate, agent_id: string): string | null {
  const { currency, max_amount_minor, agents } = issuer;
  if (body.currency !== currency)
    return `currency: is ${body.currency}, but the issuer issues ${currency} alone.`;
  if (body.amount_minor > max_amount_minor)
    return `amount: ${body.amount_minor} is over the ${max_amount_minor} of the issuer.`;
  return agents.length === 0 || agents.includes(agent_id) ? null : 'agent: is none of the issuer’s.';
}

/** The allowance of a mandate, and where it recurs the part that a spend is made under. */
interface Made {
  whole: Allowance;
  part: Allowance | null;
}

/** Makes the rows, without recording them; refused where the issuer's parent does not permit them. */
function makeRows(
  set: WorkingSet,
  input: PresentMandateInput,
  { issuer, above, agent_id }: { issuer: AllowanceIssuer; above: readonly Allowance[]; agent_id: string },
  origin: Origin,
): CommandResult<Made> {
  const { body, period, identities, mandate } = input;
  const [parent = null] = above;
  if (above.length + (period === null ? 1 : 2) > MAX_ALLOWANCE_DEPTH)
    return refuse('allowance_invalid', `kid: the issuer’s parent has too many above it for this mandate.`);
  const { currency, ...bounds } = body;
  const expires_at = new Date(Math.min(...input.ends.map(({ at_ms }) => at_ms))).toISOString();
  const named = parent?.agent_id == null ? { agent: agent_id } : {};
  const of = parent === null ? { currency } : { parent: parent.allowance_id };
  const whole_body = { ...bounds, ...named, ...of, expires_at };
  const maker = principalOfIssuer(issuer.issuer_id);
  const given = { body: whole_body, body_hash: identities[0], above, key: null, prefix: '' };
  const made: One = makeOne(
    set,
    given,
    { allowances: [given], maker, acting_principal: null, agent_id: null },
    origin,
  );
  if (made.kind !== 'done') return asInvalid(made);
  const signed = ofIssuer(issuer.issuer_id, 'MANDATE');
  const presented = { external_id: identities[0], body_hash: identities[0] };
  const row = made.value.allowance;
  const terms = { ...termsOf(row), mandate };
  if (period === null)
    return done({ whole: { ...row, ...signed, ...presented, terms: JSON.stringify(terms) }, part: null });
  const part_body = { ...bounds, parent: row.allowance_id, period, max_count: 1 };
  const part_made = { body: part_body, agent: null, budget: null, parent: row, now_ms: set.now_ms };
  const refusal = whyNotMade(part_made, '');
  if (refusal !== null) return asInvalid({ kind: 'refused', refusal });
  const part = newRow(set, part_made, origin, { ...signed, ...presented });
  return done({
    whole: { ...row, ...signed, terms: JSON.stringify({ ...terms, through: part.allowance_id }) },
    part: { ...part, terms: JSON.stringify({ ...termsOf(part), mandate }) },
  });
}

/**
 * Makes the allowance of a mandate, once for each signed JWT, whatever of it was disclosed. A mandate that recurs makes two: one for
 * all of it, and the part of it for each period, which is the one that is returned. What was presented before is returned as it
 * is, whatever became of the mandate and the issuer since.
 */
export const presentMandate: Command<PresentMandateInput, CreatedAllowance> = {
  name: 'presentMandate',
  needs: ({ issuers, identities, agent_id }) => ({
    agents: agent_id === null ? [] : [agent_id],
    allowances: issuers.flatMap(({ above }) => above.map((each) => each.allowance_id)),
    counters: issuers.flatMap(({ above }) => above.slice(0, 1).flatMap(countersOfAllowance)),
    allowance_external_ids: issuers.flatMap(({ issuer_id }) =>
      identities.map((external_id) => ({ maker: principalOfIssuer(issuer_id), external_id })),
    ),
    allowance_issuers: issuers.map(({ issuer_id }) => issuer_id),
  }),
  apply(set, input, origin) {
    const { issuers, identities, agent_id } = input;
    for (const { issuer_id } of issuers) {
      for (const external_id of identities) {
        const earlier = set.allowances.byExternalId({ maker: principalOfIssuer(issuer_id), external_id });
        if (earlier === undefined) continue;
        return whyNotTheirs(input, earlier) ?? done({ allowance: earlier, key: null, replayed: true });
      }
    }
    if (agent_id === null)
      return refuse('agent_required', 'A mandate is presented by the key of the agent that it is for.');
    const found = issuers.flatMap(({ issuer_id }) => set.allowances.issuer(issuer_id) ?? []);
    const issuer = found.find(({ revoked_at }) => revoked_at === null);
    if (issuer === undefined)
      return refuse('allowance_invalid', `kid: the issuer was revoked at ${found[0]?.revoked_at}.`);
    const above = issuers.find((each) => each.issuer_id === issuer.issuer_id)?.above ?? [];
    const refused = whyNotTheirs(input, {
      agent_id: above[0]?.agent_id ?? null,
      path: above.map((each) => each.allowance_id),
    });
    if (refused !== null) return refused;
    const wrong = whyNotNow(input, set.now_ms) ?? whyBeyond(issuer, input, agent_id);
    if (wrong !== null) return refuse('allowance_invalid', wrong);
    const made = makeRows(set, input, { issuer, above, agent_id }, origin);
    if (made.kind !== 'done') return made;
    const { whole, part } = made.value;
    addAllowance(set, whole, origin);
    if (part !== null) addAllowance(set, part, origin);
    return done({ allowance: part ?? whole, key: null, replayed: false });
  },
};
