import type { Assessment, PurposeEvidence } from '../domain/assessment.ts';
import { answersTask, confirmedByTrace, openQuestion, taskShare, unseenCondition } from './conditions.ts';
import { ENOUGH_SUPPORT, type Fit } from './fit.ts';
import { carriesMeaning } from './language/everyday-words.ts';
import { isPrivate } from './language/lexicon.ts';
import { type Token, tokenize } from './language/text.ts';
import { MAX_QUOTE_LENGTH } from './manipulation.ts';
import { NEVER_MEANT } from './other-trade.ts';
import { TOKEN_RAILS } from './payees.ts';
import type { AuthorityReading } from './reading/authority-terms.ts';
import type { SpendReading, TermMatch } from './reading/spend-reading.ts';
import { entryFor, unmetNeed, unsureSize } from './records.ts';
import { assessmentOf, unclear } from './verdict.ts';

/** Families that a purpose does not cover by wanting a related family. */
const SET_APART: ReadonlySet<string> = new Set(['alcohol', 'cash_like']);

/** True if the money goes to an account or handle, and not to a token of a payment processor. */
const isOwnAccount = ({ request: { action } }: SpendReading): boolean =>
  action.payee_id !== undefined &&
  !TOKEN_RAILS.test(action.payee_id.slice(0, action.payee_id.indexOf(':')).toLowerCase());

const isNamed = (purpose: AuthorityReading, token: Token): boolean =>
  /^\p{Lu}/u.test(token.raw) && purpose.names.has(token.word);

/** The assessment of a spend that nothing supports but a wish of the people to whom the operator leaves the choice. */
function wishOf(spend: SpendReading, purpose: AuthorityReading): Assessment {
  const name = spend.task_tokens.find((token) => isNamed(purpose, token));
  const quote = purpose.names.get(name?.word ?? '') ?? purpose.delegation;
  const shared = spend.description_tokens.find(
    (token) => carriesMeaning(token) && spend.task_tokens.some((one) => one.stem === token.stem),
  );
  if (quote === undefined || shared === undefined) {
    return unclear(0.5, 'Nothing that the operator wrote speaks for this spend.');
  }
  return assessmentOf(
    'PURPOSE_ALIGNED',
    0.55,
    `The purpose leaves the choice to others ("${quote.text}"), "${shared.raw}" is what the task asks for, and nothing contradicts it.`,
    [
      { field: quote.field, text: quote.text, effect: 'supports' },
      { field: 'action.description', text: shared.raw, effect: 'supports' },
      { field: 'task', text: shared.raw, effect: 'supports' },
    ],
  );
}

function describeSupport(fit: Fit): string {
  const bought = fit.supports.find((one) => one.field.startsWith('action.'));
  const wanted = fit.supports.find((one) => /^(?:purpose\.|allowed_merchants\[)/.test(one.field));
  const how = wanted?.field.startsWith('allowed_merchants')
    ? 'is an allowed merchant'
    : 'is what the purpose asks for';
  return `"${bought?.text ?? ''}" ${how} ("${wanted?.text ?? ''}"), and nothing in the request contradicts it.`;
}

const mayBeSetApart = (match: TermMatch): boolean =>
  match.trades.some((trade) => SET_APART.has(trade.family) || NEVER_MEANT.has(trade.family));

const isSetApart = (match: TermMatch): boolean =>
  match.trades.every((trade) => isPrivate(trade) || SET_APART.has(trade.family));

/** The first match out of the purpose's scope that the rest of the spend does not outweigh. */
function outOfScopeIn(fit: Fit, spend: SpendReading, purpose: AuthorityReading): TermMatch | undefined {
  const found = fit.goods_out_of_scope ?? fit.merchant_out_of_scope;
  if (found === undefined) return undefined;
  const is_set_apart = isSetApart(found);
  if (fit.account_known && !is_set_apart) return undefined;
  const outweighed =
    (fit.goods_support >= 0.5 || fit.merchant_support >= ENOUGH_SUPPORT) &&
    fit.support >= ENOUGH_SUPPORT &&
    (fit.merchant_out_of_scope === undefined ||
      (fit.goods_out_of_scope === undefined && fit.goods_support >= ENOUGH_SUPPORT));
  // What people ask for in a task may belong to any trade.
  const asked =
    purpose.on_request &&
    tokenize(found.text).every((token) => spend.task_tokens.some((one) => one.stem === token.stem));
  // Goods that the purpose names may come from any shop, except one of a family that is set apart.
  const fromAnyShop = fit.goods_out_of_scope === undefined && !mayBeSetApart(found);
  return (outweighed || asked) && (!is_set_apart || fromAnyShop) ? undefined : found;
}

/** An assessment. It is settleable if it is unclear only because no words support the spend. */
export interface Weighed {
  assessment: Assessment;
  is_settleable: boolean;
}

const final = (assessment: Assessment): Weighed => ({ assessment, is_settleable: false });
const settleable = (assessment: Assessment): Weighed => ({ assessment, is_settleable: true });

/** False for general merchants and empty descriptions: earlier spends there do not settle what is bought now. */
const saysSomething = (spend: SpendReading): boolean =>
  !spend.known.general && spend.description_tokens.some(carriesMeaning);

/**
 * Assesses a spend without conflict or decisive suspicion. It is aligned if it has enough support and nothing is left
 * open. `suspicious`: evidence to be added to an aligned assessment.
 */
export function weighed(
  spend: SpendReading,
  purpose: AuthorityReading,
  fit: Fit,
  suspicious: readonly PurposeEvidence[],
): Weighed {
  const outside = purpose.broad ? undefined : outOfScopeIn(fit, spend, purpose);
  if (outside !== undefined) {
    const assessment = unclear(0.5, `"${outside.text}" does not belong to what the purpose speaks of.`, [
      { field: outside.field, text: outside.text, effect: 'conflicts' },
      ...fit.supports,
    ]);
    return isSetApart(outside) || !saysSomething(spend) ? final(assessment) : settleable(assessment);
  }
  if (purpose.only_named !== undefined && !fit.merchant_named && !fit.account_known) {
    const text = purpose.only_named.text.slice(0, MAX_QUOTE_LENGTH);
    return final(
      unclear(0.55, `The purpose names whom it pays ("${text}"), and this merchant is not among them.`, [
        {
          field: 'action.merchant',
          text: spend.merchant.text.slice(0, MAX_QUOTE_LENGTH),
          effect: 'conflicts',
        },
        { field: purpose.only_named.field, text, effect: 'conflicts' },
      ]),
    );
  }
  if (
    purpose.only_these !== undefined &&
    !spend.description_tokens.some(
      (token) => isNamed(purpose, token) && !spend.merchant_tokens.some((one) => one.word === token.word),
    )
  ) {
    const text = purpose.only_these.text.slice(0, MAX_QUOTE_LENGTH);
    return final(
      unclear(
        0.55,
        `The purpose names whom it buys for ("${text}"), and the description names none of them.`,
        [{ field: purpose.only_these.field, text, effect: 'conflicts' }, ...fit.supports],
      ),
    );
  }
  const unlisted = !fit.merchant_named && !fit.account_known;
  const keepsAccounts = purpose.accounts.size > 1 && isOwnAccount(spend);
  if (unlisted && (keepsAccounts || (purpose.lists_payees && entryFor(spend, purpose) !== undefined))) {
    return final(
      unclear(0.5, 'The operator keeps a list of whom to pay, and this payee is not on it.', [
        {
          field: 'action.merchant',
          text: spend.merchant.text.slice(0, MAX_QUOTE_LENGTH),
          effect: 'conflicts',
        },
        ...fit.supports,
      ]),
    );
  }
  const share = taskShare(spend);
  const runBound = purpose.on_request || purpose.broad;
  const listed = entryFor(spend, purpose) !== undefined;
  const confirmed = confirmedByTrace(spend);
  // If the operator names the people whom the agent serves, their wish in the task is what the operator wants.
  const wished = purpose.on_request && spend.task_tokens.some((token) => isNamed(purpose, token));
  const answered = runBound && (fit.support > 0 || confirmed || listed || wished) && (share >= 0.5 || listed);
  if (fit.support < ENOUGH_SUPPORT && !answered) {
    return (saysSomething(spend) ? settleable : final)(
      unclear(
        fit.support > 0 ? 0.4 : 0.6,
        'Merchant and description do not show that this is what the purpose asks for.',
        fit.supports,
      ),
    );
  }
  const settled = fit.account_known || listed || confirmed;
  if (runBound && !settled && share < 0.5 && (fit.goods_support < 0.5 || !fit.grounded)) {
    return (saysSomething(spend) ? settleable : final)(
      unclear(
        0.45,
        'The purpose ties its spends to wishes or to what comes up, and the description does not say enough to tell.',
        fit.supports,
      ),
    );
  }
  if (purpose.on_request && fit.goods_support < ENOUGH_SUPPORT && !answersTask(spend) && !listed) {
    return final(
      unclear(
        0.45,
        'What is wanted is said run by run, and the description does not answer the task.',
        fit.supports,
      ),
    );
  }
  const need = purpose.on_request ? unmetNeed(spend) : undefined;
  if (need !== undefined) {
    return final(
      unclear(0.5, `The task insists on something ("${need.text}") that the run does not show to hold.`, [
        { field: need.field, text: need.text, effect: 'conflicts' },
        ...fit.supports,
      ]),
    );
  }
  const open = openQuestion(spend) ?? unsureSize(spend, purpose);
  if (open !== undefined) {
    return final(
      unclear(0.55, `Something is still open: "${open.text}".`, [
        { field: open.field, text: open.text, effect: 'conflicts' },
        ...fit.supports,
      ]),
    );
  }
  const condition = unseenCondition(spend, purpose, listed);
  if (condition !== undefined) {
    const text = condition.text.slice(0, MAX_QUOTE_LENGTH);
    return final(
      unclear(0.5, `The purpose sets a condition that the request does not show to hold: "${text}".`, [
        { field: condition.field, text, effect: 'conflicts' },
        ...fit.supports,
      ]),
    );
  }
  if (fit.supports.length > 0) {
    const confidence = Math.min(0.95, 0.6 + 0.1 * fit.support);
    return final(
      assessmentOf('PURPOSE_ALIGNED', confidence, describeSupport(fit), [...fit.supports, ...suspicious]),
    );
  }
  return final(wishOf(spend, purpose));
}
