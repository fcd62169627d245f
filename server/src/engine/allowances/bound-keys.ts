import type { ApiKey, BoundTo, KeyBounds } from '@purser/rules/domain/keys';
import type { Allowances } from './allowances.ts';

/** The rows of a batch that a key can be bound to. */
interface Rows {
  allowances: Allowances;
  keys: { get(key_id: string): ApiKey | undefined };
}

/** The state at the batch timestamp of what a key is bound to. The command must need the allowances and the keys. */
export function boundsOf({ allowances, keys }: Rows, bound: BoundTo): KeyBounds {
  const above = allowances.all(bound.allowance_path);
  const makers = bound.maker_key_ids.map((id) => keys.get(id));
  const ends = [...above, ...makers].flatMap((each) => each?.expires_at ?? []);
  return {
    bound_until: ends.sort()[0] ?? null,
    is_bound_revoked:
      above.some(({ status }) => status === 'REVOKED') ||
      makers.some((key) => key === undefined || key.revoked_at !== null),
  };
}
