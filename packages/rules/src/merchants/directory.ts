import type { LISTED_VERDICTS } from '@purser/contract/values/merchants';
import { allowedBy, allowlistKey } from './allowlist.ts';
import { blockedBy } from './blocklist.ts';
import { namesOfDescriptor } from './descriptors.ts';

export type ListedVerdict = (typeof LISTED_VERDICTS)[number];

/** A person's (or their key's) verdict on a merchant for one agent. Entries are never removed, only unlisted. */
export interface MerchantEntry {
  entry_id: string;
  agent_id: string;
  merchant: string;
  /** Payees that an ALLOWED entry vouches for, sorted; empty for any payee. */
  payee_ids: readonly string[];
  verdict: ListedVerdict;
  note: string | null;
  /** The version of the directory from which it is in force. */
  listed_in: number;
  /** The version from which it no longer is; null: it is in force. */
  unlisted_in: number | null;
  created_at: string;
  unlisted_at: string | null;
  key_id: string | null;
  principal_id: string | null;
}

/** An entry as an assessment is told of it. */
export interface ListedMerchant {
  /** `mer_…` */
  entry_id: string;
  /** As it was listed. An ALLOWED one is matched like `allowed_merchants`, a BLOCKED one like `blocked_merchants`. */
  merchant: string;
  /** Only these payees are vouched for; with none, every payee of the merchant. */
  payee_ids: readonly string[];
  verdict: ListedVerdict;
  /** The lister, as evidence names them: `user:ada`, `key:key_…`. */
  listed_by: string;
  /** RFC 3339. */
  listed_at: string;
}

/**
 * The merchants that are listed for an agent at one version. Equal versions of one agent have the same entries. The
 * arrays must not be changed, since what is compiled from them is cached for as long as they live.
 */
export interface Directory {
  version: number;
  /** All of it, in the order of listing. */
  listed: readonly ListedMerchant[];
  blocked: readonly string[];
  /** Allowed whoever is paid. */
  allowed: readonly string[];
  /** Allowed where this payee is paid. */
  allowed_for: ReadonlyMap<string, readonly string[]>;
  /** By verdict and name; of several entries of one name the first. */
  entries: ReadonlyMap<string, MerchantEntry>;
}

/** The directory of an agent for which nothing was ever listed. */
export const EMPTY_DIRECTORY: Directory = {
  version: 0,
  listed: [],
  blocked: [],
  allowed: [],
  allowed_for: new Map(),
  entries: new Map(),
};

const nameOf = (verdict: ListedVerdict, merchant: string, payee_id = '') =>
  `${verdict} ${payee_id} ${merchant}`;

/** The directory that these entries make up at `version`; those that are not in force then are left out. */
export function directoryAt(version: number, entries: readonly MerchantEntry[]): Directory {
  const listed: ListedMerchant[] = [];
  const blocked: string[] = [];
  const allowed: string[] = [];
  const allowed_for = new Map<string, string[]>();
  const by_name = new Map<string, MerchantEntry>();
  for (const entry of entries) {
    const { merchant, verdict, payee_ids, listed_in, unlisted_in } = entry;
    if (listed_in > version || (unlisted_in !== null && unlisted_in <= version)) continue;
    const { entry_id, created_at: listed_at } = entry;
    listed.push({ entry_id, merchant, payee_ids, verdict, listed_by: listerOf(entry), listed_at });
    const of_payees = verdict === 'ALLOWED' ? payee_ids : [];
    if (of_payees.length === 0) (verdict === 'ALLOWED' ? allowed : blocked).push(merchant);
    for (const payee_id of of_payees) {
      const names = allowed_for.get(payee_id);
      if (names === undefined) allowed_for.set(payee_id, [merchant]);
      else names.push(merchant);
    }
    for (const payee_id of of_payees.length === 0 ? [undefined] : of_payees) {
      const name = nameOf(verdict, merchant, payee_id);
      if (!by_name.has(name)) by_name.set(name, entry);
    }
  }
  return { version, listed, blocked, allowed, allowed_for, entries: by_name };
}

/** The entry that blocks a merchant, matched as `blocked_merchants` are; null: none does. */
export function blockingEntry({ blocked, entries }: Directory, merchant: string): MerchantEntry | null {
  if (blocked.length === 0) return null;
  const name = blockedBy(merchant, blocked);
  return name === null ? null : (entries.get(nameOf('BLOCKED', name)) ?? null);
}

/**
 * The entry that vouches for paying a merchant, matched as `allowed_merchants` are, with what card descriptors add cleaned
 * off; null: none does.
 */
export function vouchingEntry(
  directory: Directory,
  { merchant, payee_id }: { merchant: string; payee_id?: string | undefined },
): MerchantEntry | null {
  if (directory.allowed.length === 0 && directory.allowed_for.size === 0) return null;
  for (const name of namesOfDescriptor(merchant)) {
    const entry = entryOfName(directory, name, payee_id);
    if (entry !== null) return entry;
  }
  return null;
}

function entryOfName(
  { allowed, allowed_for, entries }: Directory,
  merchant: string,
  payee_id: string | undefined,
): MerchantEntry | null {
  const of_all = allowed.length === 0 ? null : allowedBy(merchant, allowed);
  if (of_all !== null) return entries.get(nameOf('ALLOWED', of_all)) ?? null;
  const of_payee = payee_id === undefined ? undefined : allowed_for.get(payee_id);
  const name = of_payee === undefined ? null : allowedBy(merchant, of_payee);
  return name === null ? null : (entries.get(nameOf('ALLOWED', name, payee_id)) ?? null);
}

/** The lister: the person behind a key, otherwise the key. */
function listerOf({ principal_id, key_id }: MerchantEntry): string {
  return principal_id ?? (key_id === null ? 'the service' : `key:${key_id}`);
}

/** The lister and the date (UTC) of an entry: "user:ada", "2026-11-03". */
export function listerAndDay(entry: MerchantEntry): [lister: string, day: string] {
  return [listerOf(entry), entry.created_at.slice(0, 10)];
}

/** The same for two entries that say the same: one merchant however it is spelled, the same payees, the same verdict. */
export function listingKey(entry: Pick<MerchantEntry, 'merchant' | 'payee_ids' | 'verdict'>): string {
  return nameOf(entry.verdict, allowlistKey(entry.merchant), entry.payee_ids.join(' '));
}
