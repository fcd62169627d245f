import { type Actor, madeBy } from '@purser/rules/domain/audit';
import type { ApiKey } from '@purser/rules/domain/keys';

type Making = Pick<ApiKey, 'made_by_key_id' | 'made_by_principal_id' | 'made_by_person'>;

/** The makers of keys and invitations, from the audit records along the chain, by the name of the row. */
export type Makers = Map<string, object>;

/**
 * Returns a sealed key or invitation with its maker. Records from before rows had their maker do not hold it, but the
 * actor of the record that made the row is sealed. Must be called in the order of the chain.
 */
export function withMaker(
  makers: Makers,
  kind: string,
  row: Record<string, unknown>,
  actor: Actor,
): Record<string, unknown> {
  if (kind !== 'api_key' && kind !== 'invitation') return row;
  const name = `${kind} ${kind === 'api_key' ? row.key_id : row.invitation_id}`;
  const made = makers.get(name) ?? makingOf(makers, kind, row, actor);
  makers.set(name, made);
  return { ...made, ...row };
}

function makingOf(makers: Makers, kind: string, row: Record<string, unknown>, actor: Actor): object {
  if (kind === 'api_key' && row.made_by_person !== undefined) {
    const { made_by_key_id, made_by_principal_id, made_by_person } = row as Partial<ApiKey>;
    return { made_by_key_id, made_by_principal_id, made_by_person };
  }
  const maker = makers.get(`api_key ${actor.key_id}`) as Making | undefined;
  const { key_id, principal_id, person } = madeBy(actor, maker);
  return kind === 'api_key'
    ? { made_by_key_id: key_id, made_by_principal_id: principal_id, made_by_person: person }
    : { invited_by_key_id: key_id, invited_by_person: person };
}
