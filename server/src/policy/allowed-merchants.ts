import type { AllowedPayee, Authority } from '../domain/authorities.ts';
import { allowedBy, allowlistKey } from '../merchants/blocklist.ts';
import { namesOfDescriptor } from '../merchants/descriptors.ts';
import { type Directory, vouchingEntry } from '../merchants/directory.ts';
import type { Found, Judge } from './stage.ts';

/** The payees of merchants by `allowlistKey`, so that all spellings of one merchant are together. */
interface KnownPayees {
  of_merchants: ReadonlyMap<string, ReadonlySet<string>>;
  /** Payees that may be paid whatever the merchant is called. */
  of_anybody: ReadonlySet<string>;
}

function knownPayees(entries: Iterable<AllowedPayee>): KnownPayees {
  const of_merchants = new Map<string, Set<string>>();
  const of_anybody = new Set<string>();
  for (const { merchant, payee_id } of entries) {
    if (merchant === undefined) {
      of_anybody.add(payee_id);
      continue;
    }
    const key = allowlistKey(merchant);
    of_merchants.set(key, (of_merchants.get(key) ?? new Set()).add(payee_id));
  }
  return { of_merchants, of_anybody };
}

const NONE: readonly never[] = [];
const NOBODY = knownPayees(NONE);
const of_authorities = new WeakMap<readonly AllowedPayee[], KnownPayees>();
const of_directories = new WeakMap<Directory, KnownPayees>();

/** What is made of lists is kept for as long as they live: they are not changed. */
function remembered<List extends object>(
  made: WeakMap<List, KnownPayees>,
  list: List,
  entriesOf: () => Iterable<AllowedPayee>,
): KnownPayees {
  let known = made.get(list);
  if (known === undefined) {
    known = knownPayees(entriesOf());
    made.set(list, known);
  }
  return known;
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

/** The keys of entries that match a merchant as an allowlist is matched: a host is matched by the domains above it too. */
function keysMatching(merchant: string): string[] {
  const key = allowlistKey(merchant);
  if (!key.startsWith('host ')) return [key];
  const keys: string[] = [];
  for (let host = key.slice('host '.length); host.includes('.'); host = host.slice(host.indexOf('.') + 1))
    keys.push(`host ${host}`);
  return keys;
}

/** The payees at which a merchant is known to be paid; none: it is bound to none. */
function boundPayees({ of_merchants }: KnownPayees, spellings: readonly string[]): string[] {
  if (of_merchants.size === 0) return [];
  return spellings.flatMap(keysMatching).flatMap((key) => [...(of_merchants.get(key) ?? NONE)]);
}

/** Whether a list of an authority is more to it than evidence for its purpose. */
export const isBoundToList = ({
  on_other_merchants: on_other = 'ALLOW',
  allowed_payees,
}: Authority): boolean => on_other !== 'ALLOW' || allowed_payees !== undefined;

/**
 * `merchant_allowlist`: the merchant must be on a list of the authority or the merchant directory, and one that is known
 * by its payees must be paid at one of them. Matching is narrow: whole names, hosts with their subdomains, no look-alikes.
 * What is on the lists is never told.
 */
export const judgeMerchantAllowlist: Judge = (authority, { request, directory }) => {
  const { allowed_merchants = NONE, allowed_payees = NONE, on_other_merchants = 'ALLOW' } = authority;
  const { merchant, payee_id } = request.action;
  const of_authority = payeesOfAuthority(authority);
  const bound = new Set([
    ...boundPayees(of_authority, [merchant]),
    ...boundPayees(payeesOfDirectory(directory), namesOfDescriptor(merchant)),
  ]);
  if (bound.size > 0 && (payee_id === undefined || !bound.has(payee_id))) {
    const accounts = bound.size === 1 ? '1 known account' : `${bound.size} known accounts`;
    return {
      outcome: on_other_merchants === 'DENY' ? 'DENY' : 'REVIEW',
      reason_code: 'PAYEE_NOT_ALLOWED',
      observed: payee_id ?? null,
      detail: `${merchant} is paid at ${accounts}; the request names ${payee_id === undefined ? 'none' : 'another'}.`,
    };
  }
  const passed = (detail: string): Found => ({ outcome: 'PASS', observed: merchant, detail });
  const is_listed =
    bound.size > 0 ||
    allowedBy(merchant, allowed_merchants) !== null ||
    (payee_id !== undefined && of_authority.of_anybody.has(payee_id)) ||
    vouchingEntry(directory, request.action) !== null;
  if (is_listed) return passed('The merchant is among those allowed.');
  if (on_other_merchants === 'ALLOW') return passed('Other merchants may be paid too.');
  const in_directory = directory.listed.filter(({ verdict }) => verdict === 'ALLOWED').length;
  const count = allowed_merchants.length + allowed_payees.length + in_directory;
  return {
    outcome: on_other_merchants,
    reason_code: 'MERCHANT_NOT_ALLOWED',
    observed: merchant,
    limit: count,
    detail: `The merchant is not among those allowed, of which there are ${count}.`,
  };
};
