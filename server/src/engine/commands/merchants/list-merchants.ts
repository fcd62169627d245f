import type { Authority } from '@purser/contract/authority';
import { MAX_ENTRIES } from '@purser/contract/values/merchants';
import type { Agent } from '@purser/rules/domain/agents';
import type { Origin } from '@purser/rules/domain/audit';
import { blockedBy } from '@purser/rules/merchants/blocklist';
import type { ListedVerdict } from '@purser/rules/merchants/directory';
import { listingKey, type MerchantEntry } from '@purser/rules/merchants/directory';
import { type Command, done, type Refusal, refuse } from '../../lane/command.ts';
import type { WorkingSet } from '../../lane/working-set.ts';

/** A merchant to be listed. */
export interface Listing {
  merchant: string;
  /** Sorted, each once. */
  payee_ids: readonly string[];
  verdict: ListedVerdict;
  note: string | null;
}

export interface ListMerchantsInput {
  /** Id or slug. */
  agent: string;
  listings: readonly Listing[];
  /** The caller is no administrator, and may do this only where the authority says so. */
  is_reviewer: boolean;
}

/** Why a reviewer may not; null: the authority lets them. */
export function reviewerRefusal(authority: Authority | undefined): string | null {
  if (authority?.reviewer_may_list === true) return null;
  return 'This needs the scope admin. The scope review suffices only if the authority sets `reviewer_may_list`.';
}

/** A listing that says the opposite of the authority or of another entry, by its place, and how. */
interface Contradiction {
  place: number;
  how: string;
}

/** Finds the first listing that says the opposite of the authority or of another entry; undefined: none does. */
function contradictionIn(
  listings: readonly Listing[],
  entries: readonly Pick<MerchantEntry, 'merchant' | 'verdict'>[],
  authority: Authority | undefined,
): Contradiction | undefined {
  const namesOf = (of: readonly Pick<MerchantEntry, 'merchant' | 'verdict'>[], verdict: ListedVerdict) =>
    of.filter((entry) => entry.verdict === verdict).map(({ merchant }) => merchant);
  const wrong = (merchant: string, how: string) => ({
    place: listings.findIndex((listing) => listing.merchant === merchant),
    how: `"${merchant}" ${how}; a merchant cannot be both allowed and blocked`,
  });
  const newly_blocked = namesOf(listings, 'BLOCKED');
  const blocked = [...namesOf(entries, 'BLOCKED'), ...newly_blocked];
  for (const merchant of namesOf(listings, 'ALLOWED')) {
    const of_authority = blockedBy(merchant, authority?.blocked_merchants ?? []);
    if (of_authority !== null)
      return wrong(merchant, `is blocked by "${of_authority}" of the authority's blocked_merchants`);
    const of_entry = blockedBy(merchant, blocked);
    if (of_entry !== null) return wrong(merchant, `is blocked by the entry "${of_entry}"`);
  }
  for (const name of authority?.allowed_merchants ?? []) {
    const by = blockedBy(name, newly_blocked);
    if (by !== null) return wrong(by, `would block "${name}" of the authority's allowed_merchants`);
  }
  for (const name of namesOf(entries, 'ALLOWED')) {
    const by = blockedBy(name, newly_blocked);
    if (by !== null) return wrong(by, `would block the allowed entry "${name}"`);
  }
  return undefined;
}

/** Merchants to be listed for an agent. `fieldOf` names the field of the request that a listing comes from, by its place. */
export interface Listings {
  agent: Agent;
  listings: readonly Listing[];
  is_reviewer: boolean;
  fieldOf: (place: number) => string;
}

/**
 * Returns why merchants cannot be listed: a reviewer may not, or the current authority or another entry says the opposite, or
 * there would be too many; null: they can be. `known`: the entries in force.
 */
export function whyNotListable(
  authority: Authority | undefined,
  known: readonly MerchantEntry[],
  { listings, is_reviewer, fieldOf }: Omit<Listings, 'agent'>,
): Refusal | null {
  const message = is_reviewer ? reviewerRefusal(authority) : null;
  if (message !== null) return { code: 'insufficient_scope', message };
  const contradiction = contradictionIn(listings, known, authority);
  if (contradiction !== undefined) {
    const { place, how } = contradiction;
    return { code: 'invalid_request', message: `${fieldOf(place)}: ${how}` };
  }
  const keys = new Set(known.map(listingKey));
  const total = new Set([...keys, ...listings.map(listingKey)]).size;
  if (total === keys.size || known.length + total - keys.size <= MAX_ENTRIES) return null;
  return {
    code: 'merchant_limit',
    message: `The agent has ${known.length} listed merchants, and the limit is ${MAX_ENTRIES}; unlist some.`,
  };
}

/** `whyNotListable` in a batch. The command must need the agent and its `listed_merchants_of`. */
export function whyNotListed(set: WorkingSet, { agent, ...of }: Listings): Refusal | null {
  const known = set.listed_merchants.of(agent.agent_id);
  return whyNotListable(set.authority(agent.agent_id)?.authority, known, of);
}

/**
 * Lists merchants for an agent and returns an entry for each listing; where the same was listed before, that entry.
 * `whyNotListed` must have found nothing against it.
 */
export function listFor(
  set: WorkingSet,
  { agent, listings }: Pick<Listings, 'agent' | 'listings'>,
  origin: Origin,
): MerchantEntry[] {
  const { agent_id } = agent;
  const known = set.listed_merchants.of(agent_id);
  const listed_in = agent.directory_version + 1;
  const { key_id, principal_id } = origin.actor;
  const by_key = new Map(known.map((entry) => [listingKey(entry), entry]));
  const added: MerchantEntry[] = [];
  const result = listings.map((listing) => {
    const key = listingKey(listing);
    const same = by_key.get(key);
    if (same !== undefined) return same;
    const entry: MerchantEntry = {
      entry_id: set.newId('merchant'),
      agent_id,
      ...listing,
      listed_in,
      unlisted_in: null,
      created_at: set.now,
      unlisted_at: null,
      key_id,
      principal_id,
    };
    added.push(entry);
    by_key.set(key, entry);
    return entry;
  });
  if (added.length === 0) return result;
  const changed = { ...agent, directory_version: listed_in, updated_at: set.now };
  set.putAgent(changed);
  for (const entry of added) {
    set.listed_merchants.put(entry);
    const { merchant, payee_ids, verdict, note } = entry;
    set.audit('merchant.listed', { type: 'merchant', id: entry.entry_id }, origin, {
      from: null,
      to: { agent: agent.slug, merchant, verdict, payee_ids, note },
      state: { agent: changed, merchant_entry: entry },
    });
  }
  return result;
}

/**
 * Lists merchants for an agent, all of them or none. Returns an entry for each listing; where the same was listed before,
 * that entry. Refused is what the current authority or another entry says the opposite of.
 */
export const listMerchants: Command<ListMerchantsInput, MerchantEntry[]> = {
  name: 'listMerchants',
  needs: ({ agent }) => ({ agents: [agent], listed_merchants_of: [agent] }),
  apply(set, { agent: ref, listings, is_reviewer }, origin) {
    const agent = set.agent(ref);
    if (agent === undefined) return refuse('not_found', 'No such agent.');
    const fieldOf = (place: number) => `entries[${place}].merchant`;
    const refusal = whyNotListed(set, { agent, listings, is_reviewer, fieldOf });
    if (refusal !== null) return { kind: 'refused', refusal };
    return done(listFor(set, { agent, listings }, origin));
  },
};
