import { allAllowing } from './allowlist.ts';
import { allBlocking } from './blocklist.ts';
import { namesOfDescriptor, namesOfPayment } from './descriptors.ts';

/*
 * How merchants and payees are compared, by what the comparison is for.
 *
 * What restricts compares widely, so that no spelling is a way around it: block lists, the merchants of limits over time and
 * the merchants that are bound to payees (`blockedBy`, and whatever a capability for the merchant would pay); counters per
 * merchant and per payee, and duplicates (`merchantKey`, `payeeKey`).
 *
 * What lets through compares narrowly, so that no other name is taken for one that was allowed: lists of those allowed, the
 * directory and known merchants (`allowedBy`, `allowlistKey`), what a capability is bound to (`isDescriptorOf`, and the
 * payee byte for byte).
 */

/** The payees of merchants, for a list that is not changed. */
export interface BoundPayees {
  /** Merchants as they are written in the list, each once. */
  merchants: readonly string[];
  /** The payees of each, by its place in `merchants`. */
  payees: readonly ReadonlySet<string>[];
  /** Payees that may be paid whatever the merchant is called. */
  of_anybody: ReadonlySet<string>;
}

/** The payees of merchants in a list. */
export function boundPayees(entries: Iterable<{ merchant?: string; payee_id: string }>): BoundPayees {
  const of_merchants = new Map<string, Set<string>>();
  const of_anybody = new Set<string>();
  for (const { merchant, payee_id } of entries) {
    if (merchant === undefined) of_anybody.add(payee_id);
    else of_merchants.set(merchant, (of_merchants.get(merchant) ?? new Set()).add(payee_id));
  }
  return { merchants: [...of_merchants.keys()], payees: [...of_merchants.values()], of_anybody };
}

/** Where a merchant may be paid. */
export interface Binding {
  /** Its payees; empty: it is bound to none. */
  payees: ReadonlySet<string>;
  /** The merchant is one of those named. Otherwise it only might be one, which binds it and vouches for nothing. */
  is_named: boolean;
}

/**
 * The payees that a merchant is bound to by these lists. Its own name counts first: where it is one of those named, as a list
 * of those allowed compares, only their payees are its own. Otherwise it is bound to the payees of all merchants that it might
 * be, as a block list compares or as a capability for them would be consumed. Time does not grow with the lists.
 */
export function bindingOf(merchant: string, lists: readonly BoundPayees[]): Binding {
  const bound = lists.filter(({ merchants }) => merchants.length > 0);
  if (bound.length === 0) return { payees: new Set(), is_named: false };
  const namedAs = (names: readonly string[]) => (merchants: readonly string[]) =>
    names.flatMap((name) => allAllowing(name, merchants));
  const named = payeesWhere(bound, namedAs(namesOfDescriptor(merchant)));
  if (named.size > 0) return { payees: named, is_named: true };
  const paidAs = namedAs(namesOfPayment(merchant));
  const alike = payeesWhere(bound, (merchants) => [
    ...allBlocking(merchant, merchants),
    ...paidAs(merchants),
  ]);
  return { payees: alike, is_named: false };
}

function payeesWhere(
  lists: readonly BoundPayees[],
  placesOf: (merchants: readonly string[]) => readonly number[],
): Set<string> {
  return new Set(
    lists.flatMap(({ merchants, payees }) =>
      placesOf(merchants).flatMap((i) => [...(payees[i] as Set<string>)]),
    ),
  );
}
