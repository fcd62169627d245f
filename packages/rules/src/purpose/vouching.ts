import type { PurposeEvidence } from '../domain/assessment.ts';
import { covers } from '../domain/questions.ts';
import { type ListedMerchant, lists } from '../domain/spend-facts.ts';
import { allowedBy } from '../merchants/allowlist.ts';
import { normaliseMerchant } from '../merchants/names.ts';
import { VOUCHED } from '../sentences/purpose.ts';
import { allowedAsRead } from './allowed-merchants.ts';
import { type Inquiry as Judged, supports, type Vouched } from './conflicts/conflict.ts';
import { isLedBy } from './conflicts/switched-payee.ts';
import type { Trade } from './data/trades.ts';
import { isTelling } from './language/everyday-words.ts';
import { plainAccount } from './language/figures.ts';
import { ALLOWANCE_PURPOSE } from './reading/authority-reading.ts';
import { isObjective } from './reading/corrections.ts';
import { answerAtMerchant, precedentsAt } from './reading/precedents.ts';
import type { SpendReading } from './reading/spend-reading.ts';

/** An inquiry without its voucher. */
type Inquiry = Omit<Judged, 'vouched'>;

/** Approval of a merchant vouches for amounts up to this multiple of the highest one that was approved. */
const APPROVED_FACTOR = 1.5;

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
  sentence: string,
  from: PurposeEvidence,
  is_chosen = false,
): Vouched => ({
  is_chosen,
  payees: null,
  voucher: { by: 'OPERATOR', says, entry_id: null },
  sentence,
  evidence: [supports('action.merchant', spend.merchant.raw), from],
});

function byAllowedList({ authority, spend }: Inquiry): Vouched | undefined {
  const allowed = allowedAsRead(authority);
  const entry = entryFor(spend, allowed);
  return entry === null
    ? undefined
    : byOperator(
        spend,
        'an allowed merchant',
        VOUCHED.approved_list(spend.merchant.raw),
        supports(`allowed_merchants[${authority.allowed_merchants?.indexOf(entry)}]`, entry),
        true,
      );
}

function byDirectory({ facts: { listed }, spend }: Inquiry): Vouched | undefined {
  const { names, by_name } = allowedIn(listed);
  const name = entryFor(spend, names);
  if (name === null) return undefined;
  const { payee_id = null } = spend.request.action;
  // One merchant may be listed in several spellings, each with payees of its own.
  const entries = by_name.get(normaliseMerchant(name)) ?? [];
  const found =
    entries.find(
      ({ payee_ids }) => payee_ids.length === 0 || (payee_id !== null && payee_ids.includes(payee_id)),
    ) ?? entries[0];
  if (found === undefined) return undefined;
  const says = `listed by ${found.listed_by} on ${found.listed_at.slice(0, 10)}`;
  return {
    voucher: { by: 'DIRECTORY', says, entry_id: found.entry_id },
    is_chosen: true,
    payees: found.payee_ids.length === 0 ? null : found.payee_ids,
    sentence: VOUCHED.listed(found.listed_by, spend.merchant.raw, found.listed_at.slice(0, 10)),
    evidence: [
      supports('action.merchant', spend.merchant.raw),
      supports('directory', `${found.merchant}, ${says}`),
    ],
  };
}

/** The operator wrote the merchant's whole name, or its account behind that name. */
function byName({ purpose, spend }: Inquiry): Vouched | undefined {
  const { payee_id } = spend.request.action;
  const account = payee_id === undefined ? '' : plainAccount(payee_id);
  const lead = purpose.accounts.get(account);
  if (lead !== undefined && isLedBy(spend, lead)) {
    return byOperator(
      spend,
      'a payee whose account the purpose names',
      VOUCHED.account(spend.merchant.raw),
      supports('purpose.context', account),
    );
  }
  const name = entryFor(spend, purpose.merchant_names);
  const named = name === null ? undefined : purpose.merchants.find((one) => one.name === name);
  return named === undefined
    ? undefined
    : byOperator(
        spend,
        'named in the purpose',
        VOUCHED.name(spend.merchant.raw),
        supports(named.field, named.text),
      );
}

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);

/** People approved spends at this merchant, or the rail settled them, up to amounts like this one. */
function byHistory(inquiry: Inquiry): Vouched | undefined {
  const { facts, spend, authority } = inquiry;
  const { action } = spend.request;
  const answer = answerAtMerchant(facts, authority, action);
  const known = precedentsAt(facts, action);
  const high = Math.max(0, ...known.map((one) => one.usual_minor.get(action.currency)?.high ?? 0));
  const has_amounts = known.some((one) => one.usual_minor.size > 0);
  const is_covered =
    answer === undefined
      ? !has_amounts || action.amount_minor <= high * APPROVED_FACTOR
      : answer.answer === 'YES' && covers(answer, action, authority);
  if (!is_covered) return undefined;
  const people = known.reduce((sum, one) => sum + one.said_by_people.allowed, 0);
  const settled = known.reduce((sum, one) => sum + one.settled_by_rail, 0);
  if (people + settled === 0 && answer === undefined) return undefined;
  const payees = known.flatMap((one) =>
    one.said_by_people.allowed + one.settled_by_rail > 0 ? one.payee_id : [],
  );
  const by = people > 0 || answer !== undefined ? 'PERSON' : 'RAIL';
  const says =
    by === 'RAIL'
      ? `a merchant where the payment rail settled ${times(settled)}`
      : `a merchant that reviewers approved ${times(Math.max(people, 1))}`;
  return {
    voucher: { by, says, entry_id: null },
    is_chosen: by === 'PERSON',
    payees: [...new Set([...(answer?.payee_ids ?? []), ...payees])],
    sentence:
      by === 'RAIL'
        ? settled === 1
          ? VOUCHED.settled_once(spend.merchant.raw)
          : VOUCHED.settled(spend.merchant.raw, settled)
        : people > 1
          ? VOUCHED.approved(spend.merchant.raw, people)
          : VOUCHED.approved_once(spend.merchant.raw),
    evidence: [
      supports('action.merchant', spend.merchant.raw),
      supports(
        'history',
        answer === undefined ? says : `approved by ${answer.by} on ${answer.at.slice(0, 10)}`,
      ),
    ],
  };
}

/**
 * True if an allowance of the operator asks for such a spend in words: its description shares a word with the sentence or an
 * item and plainly names no goods of another trade, or says nothing, at a merchant that is not known for something else alone.
 * So words never do more for an agent than silence.
 */
export function isAskedFor({ purpose, spend }: Pick<Inquiry, 'purpose' | 'spend'>): boolean {
  const { asked } = purpose;
  if (asked === undefined || spend.merchant.disguise !== null) return false;
  const isWanted = (trade: Trade) => asked.trades.has(trade) || asked.families.has(trade.family);
  const isOther = (trade: Trade) =>
    !isWanted(trade) && !purpose.trades.has(trade) && !purpose.families.has(trade.family);
  if (spend.known.length > 0 && spend.known.every(isOther)) return false;
  const words = spend.description.tokens.filter(isTelling);
  if (words.length === 0) return true;
  // A word with several meanings names nothing plainly: "machines" in "virtual machines".
  const goods = spend.description_matches.filter(({ strong }) => strong);
  if (goods.some(({ trades }) => trades.every(isOther))) return false;
  // A trade is wider than what the operator asks for: audiobooks and a user manual are both books.
  return words.some(({ stem }) => asked.words.has(stem));
}

/** The operator's allowance: by its sentence, or else by the merchants or payees that it lists. */
function byAllowance(inquiry: Inquiry): Vouched | undefined {
  const { facts, spend } = inquiry;
  const { merchant, payee_id = '' } = spend.request.action;
  const worded = inquiry.is_asked_for
    ? facts.allowances.find((each) => each.purpose !== undefined)
    : undefined;
  const listing = facts.allowances.find((each) => each.purpose === undefined && lists(each));
  const found = worded ?? listing;
  if (found === undefined) return undefined;
  const { name, purpose, merchants } = found;
  return {
    voucher: { by: 'ALLOWANCE', says: `the allowance ${name}`, entry_id: null },
    payees: null,
    is_chosen: lists(found),
    sentence: purpose === undefined ? VOUCHED.allowance_list(merchant, name) : VOUCHED.allowance(name),
    evidence: [
      supports('action.merchant', spend.merchant.raw),
      purpose !== undefined
        ? supports(ALLOWANCE_PURPOSE, purpose)
        : merchants !== undefined
          ? supports('allowance.merchants', allowedBy(merchant, merchants) ?? merchant)
          : supports('allowance.payee_ids', payee_id),
    ],
  };
}

/** The merchant is known by its whole name to sell what the objective asks for. */
function byTrade(inquiry: Inquiry): Vouched | undefined {
  const { purpose, spend } = inquiry;
  // No person spoke of this merchant, and what the operator asks for in words is something else.
  if (purpose.asked !== undefined && !inquiry.is_asked_for) return undefined;
  for (const trade of spend.known) {
    const wanted = purpose.trades.get(trade);
    if (wanted === undefined || wanted.conditional || !wanted.whole || !isObjective(wanted.field)) continue;
    const says = `known for ${trade.label}, which the objective asks for`;
    return {
      voucher: { by: 'TRADE', says, entry_id: null },
      payees: null,
      is_chosen: false,
      sentence: VOUCHED.trade(spend.merchant.raw, trade.label),
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
  const found = [byDirectory, byAllowedList, byHistory, byName, byAllowance, byTrade].flatMap(
    (vouch) => vouch(inquiry) ?? [],
  );
  const { payee_id = null } = inquiry.spend.request.action;
  return found.find((one) => one.payees === null || one.payees.includes(payee_id)) ?? found[0];
}
