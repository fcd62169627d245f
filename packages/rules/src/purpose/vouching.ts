import type { PurposeEvidence } from '../domain/assessment.ts';
import type { ListedMerchant, Voucher } from '../domain/spend-facts.ts';
import { allowedBy } from '../merchants/allowlist.ts';
import { payeeKey } from '../merchants/keys.ts';
import { normaliseMerchant } from '../merchants/names.ts';
import type { Inquiry } from './conflicts/conflict.ts';
import { isLedBy } from './conflicts/switched-payee.ts';
import { plainAccount } from './language/figures.ts';
import { precedentsAt } from './reading/precedents.ts';
import type { SpendReading } from './reading/spend-reading.ts';

/** A voucher with its evidence. */
export interface Vouched {
  voucher: Voucher;
  /** The sentence's first half: `"Acme" is listed by user:ada`. */
  sentence: string;
  /** True if a person chose this merchant for the agent, and did not only name it in a text. */
  is_chosen: boolean;
  evidence: PurposeEvidence[];
}

/** Approval of a merchant vouches for amounts up to this multiple of the highest one that was approved. */
const APPROVED_FACTOR = 1.5;

const supports = (field: string, text: string): PurposeEvidence => ({ field, text, effect: 'supports' });

/** The first entry of a list that one of the merchant's names equals. */
function entryFor({ merchant_names }: SpendReading, list: readonly string[]): string | null {
  if (list.length === 0) return null;
  for (const name of merchant_names) {
    const entry = allowedBy(name, list);
    if (entry !== null) return entry;
  }
  return null;
}

/** The allowed entries of a directory: their names as one array, and those of one name in all its spellings. */
interface Allowed {
  names: readonly string[];
  by_name: ReadonlyMap<string, readonly ListedMerchant[]>;
}
const allowed_of = new WeakMap<readonly ListedMerchant[], Allowed>();

/** The allowed entries of a directory, cached for its lifetime. */
function allowedIn(listed: readonly ListedMerchant[]): Allowed {
  const known = allowed_of.get(listed);
  if (known !== undefined) return known;
  const by_name = new Map<string, ListedMerchant[]>();
  for (const one of listed) {
    if (one.verdict !== 'ALLOWED') continue;
    const name = normaliseMerchant(one.merchant);
    const same = by_name.get(name);
    if (same === undefined) by_name.set(name, [one]);
    else same.push(one);
  }
  const allowed = { names: [...by_name.values()].flat().map((one) => one.merchant), by_name };
  allowed_of.set(listed, allowed);
  return allowed;
}

const byOperator = (
  spend: SpendReading,
  says: string,
  from: PurposeEvidence,
  is_chosen = false,
): Vouched => ({
  is_chosen,
  voucher: { by: 'OPERATOR', says, entry_id: null },
  sentence: `"${spend.merchant.raw}" is ${says}`,
  evidence: [supports('action.merchant', spend.merchant.raw), from],
});

function byAllowedList({ authority, spend }: Inquiry): Vouched | undefined {
  const allowed = authority.allowed_merchants ?? [];
  const entry = entryFor(spend, allowed);
  return entry === null
    ? undefined
    : byOperator(
        spend,
        'an allowed merchant',
        supports(`allowed_merchants[${allowed.indexOf(entry)}]`, entry),
        true,
      );
}

function byDirectory({ facts: { listed }, spend }: Inquiry): Vouched | undefined {
  const { names, by_name } = allowedIn(listed);
  const name = entryFor(spend, names);
  if (name === null) return undefined;
  const { payee_id } = spend.request.action;
  // One merchant may be listed in several spellings, each with payees of its own.
  const found = by_name
    .get(normaliseMerchant(name))
    ?.find(
      ({ payee_ids }) => payee_ids.length === 0 || (payee_id !== undefined && payee_ids.includes(payee_id)),
    );
  if (found === undefined) return undefined;
  const entry = found.merchant;
  const says = `listed by ${found.listed_by} on ${found.listed_at.slice(0, 10)}`;
  return {
    voucher: { by: 'DIRECTORY', says, entry_id: found.entry_id },
    is_chosen: true,
    sentence: `"${spend.merchant.raw}" is ${says}`,
    evidence: [supports('action.merchant', spend.merchant.raw), supports('directory', `${entry}, ${says}`)],
  };
}

/** The operator wrote the merchant's whole name, or its account behind that name. */
function byName({ purpose, spend }: Inquiry): Vouched | undefined {
  const { payee_id } = spend.request.action;
  const account = payee_id === undefined ? '' : plainAccount(payee_id);
  const lead = purpose.accounts.get(account);
  if (lead !== undefined && isLedBy(spend, lead)) {
    return byOperator(spend, 'a payee whose account the purpose names', supports('purpose.context', account));
  }
  const name = entryFor(spend, purpose.merchant_names);
  const named = name === null ? undefined : purpose.merchants.find((one) => one.name === name);
  return named === undefined
    ? undefined
    : byOperator(spend, 'named in the purpose', supports(named.field, named.text));
}

const keyOf = (payee_id: string | null) => (payee_id === null ? null : payeeKey(payee_id));

/** People allowed spends at this merchant and payee, or the rail settled them. */
function byPrecedent({ facts, spend }: Inquiry): Vouched | undefined {
  const { action } = spend.request;
  const { payee_id = null } = action;
  const all = precedentsAt(facts, action);
  const known = all.filter((one) => one.payee_id === payee_id);
  const refused = all
    .filter((one) => keyOf(one.payee_id) === keyOf(payee_id))
    .reduce((sum, one) => sum + one.said_by_people.refused, 0);
  const high = Math.max(0, ...known.map((one) => one.usual_minor.get(action.currency)?.high ?? 0));
  const has_amounts = known.some((one) => one.usual_minor.size > 0);
  if (refused > 0 || (has_amounts && action.amount_minor > high * APPROVED_FACTOR)) return undefined;
  const people = known.reduce((sum, one) => sum + one.said_by_people.allowed, 0);
  const settled = known.reduce((sum, one) => sum + one.settled_by_rail, 0);
  if (people + settled === 0) return undefined;
  const spends = (count: number) => (count === 1 ? 'a spend' : `${count} spends`);
  const says =
    people > 0
      ? `a merchant where people approved ${spends(people)}`
      : `a merchant where the payment rail settled ${spends(settled)}`;
  return {
    voucher: { by: people > 0 ? 'PERSON' : 'RAIL', says, entry_id: null },
    is_chosen: people > 0,
    sentence: `"${spend.merchant.raw}" is ${says}`,
    evidence: [supports('action.merchant', spend.merchant.raw), supports('history', says)],
  };
}

/** The merchant is known by its whole name to sell what the objective asks for. */
function byTrade({ purpose, spend }: Inquiry): Vouched | undefined {
  for (const trade of spend.known.trades) {
    const wanted = purpose.trades.get(trade);
    if (wanted === undefined || wanted.conditional || wanted.field !== 'purpose.objective') continue;
    const says = `known for ${trade.label}, which the objective asks for`;
    return {
      voucher: { by: 'TRADE', says, entry_id: null },
      is_chosen: false,
      sentence: `"${spend.merchant.raw}" is ${says}`,
      evidence: [supports('action.merchant', spend.merchant.raw), supports(wanted.field, wanted.text)],
    };
  }
  return undefined;
}

/**
 * The fact that vouches for a spend, the strongest first; undefined where there is none. No fact is the agent's free text:
 * merchant and payee are claims too, but a capability binds the payer to them.
 */
export function voucherOf(inquiry: Inquiry): Vouched | undefined {
  // A name that hides what it is stands for nobody.
  if (inquiry.spend.merchant.disguise !== null) return undefined;
  return (
    byDirectory(inquiry) ??
    byAllowedList(inquiry) ??
    byPrecedent(inquiry) ??
    byName(inquiry) ??
    byTrade(inquiry)
  );
}
