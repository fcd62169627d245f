import { type AllowedPayee, AUTHORITY_DEFAULTS, type Authority } from '@purser/contract/authority';
import { allowedBy } from '../merchants/allowlist.ts';
import { type Directory, vouchingEntry } from '../merchants/directory.ts';
import { type BoundPayees, bindingOf, boundPayees } from '../merchants/matching.ts';
import { PHRASES, POLICY } from '../sentences/policy.ts';
import type { Found, Judge } from './stage.ts';

const NONE: readonly never[] = [];
const NOBODY = boundPayees(NONE);
const of_authorities = new WeakMap<readonly AllowedPayee[], BoundPayees>();
const of_directories = new WeakMap<Directory, BoundPayees>();

/** Caches a value per list for the list's lifetime. Lists never change. */
function remembered<List extends object>(
  made: WeakMap<List, BoundPayees>,
  list: List,
  entriesOf: () => Iterable<AllowedPayee>,
): BoundPayees {
  let bound = made.get(list);
  if (bound === undefined) {
    bound = boundPayees(entriesOf());
    made.set(list, bound);
  }
  return bound;
}

const payeesOfAuthority = ({ allowed_payees: list }: Authority) =>
  list === undefined ? NOBODY : remembered(of_authorities, list, () => list);

const payeesOfDirectory = (directory: Directory) =>
  directory.allowed_for.size === 0
    ? NOBODY
    : remembered(of_directories, directory, () =>
        [...directory.allowed_for].flatMap(([payee_id, names]) =>
          names.map((merchant) => ({ merchant, payee_id })),
        ),
      );

/** True if a list of an authority is more to it than evidence for its purpose. */
export const isBoundToList = ({
  on_other_merchants: on_other = AUTHORITY_DEFAULTS.on_other_merchants,
  allowed_payees,
}: Authority): boolean => on_other !== 'ALLOW' || allowed_payees !== undefined;

/**
 * `merchant_allowlist`: the merchant must be on a list of the authority or in the merchant directory; names are compared
 * strictly. A merchant that may be one with listed payees must be paid at one of them (`merchants/matching.ts`). The
 * answer never shows the lists.
 */
export const judgeMerchantAllowlist: Judge = (authority, { request, directory }) => {
  const {
    allowed_merchants = NONE,
    allowed_payees = NONE,
    on_other_merchants = AUTHORITY_DEFAULTS.on_other_merchants,
  } = authority;
  const { merchant, payee_id } = request.action;
  const of_authority = payeesOfAuthority(authority);
  const { payees: bound, is_named } = bindingOf(merchant, [of_authority, payeesOfDirectory(directory)]);
  if (bound.size > 0 && (payee_id === undefined || !bound.has(payee_id))) {
    const accounts = bound.size === 1 ? PHRASES.one_account() : PHRASES.accounts(bound.size);
    return {
      outcome: on_other_merchants === 'DENY' ? 'DENY' : 'REVIEW',
      reason_code: 'PAYEE_NOT_ALLOWED',
      observed: payee_id ?? null,
      detail:
        payee_id === undefined ? POLICY.no_payee(merchant, accounts) : POLICY.other_payee(merchant, accounts),
    };
  }
  const passed = (detail: string): Found => ({ outcome: 'PASS', observed: merchant, detail });
  const is_listed =
    is_named ||
    allowedBy(merchant, allowed_merchants) !== null ||
    vouchingEntry(directory, request.action) !== null;
  if (is_listed) return passed(POLICY.merchant_allowed(merchant));
  if (payee_id !== undefined && of_authority.of_anybody.has(payee_id)) return passed(POLICY.payee_allowed());
  if (on_other_merchants === 'ALLOW') return passed(POLICY.others_allowed());
  const in_directory = directory.listed.filter(({ verdict }) => verdict === 'ALLOWED').length;
  const count = allowed_merchants.length + allowed_payees.length + in_directory;
  return {
    outcome: on_other_merchants,
    reason_code: 'MERCHANT_NOT_ALLOWED',
    observed: merchant,
    limit: count,
    detail: POLICY.merchant_not_allowed(merchant),
  };
};
