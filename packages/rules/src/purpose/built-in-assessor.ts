import type { AttentionLevel } from '@purser/contract/purpose/attention';
import type { QuestionKind } from '@purser/contract/purpose/questions';
import type { Assess, Judgement } from '../domain/assessment.ts';
import { sha256, shownHash } from '../domain/ledger.ts';
import { settledBy } from '../domain/questions.ts';
import { NO_FACTS, type Voucher } from '../domain/spend-facts.ts';
import { isLease, judgementOfLease } from '../leases/leases.ts';
import { PURPOSE } from '../sentences/purpose.ts';
import { CONFLICTS, isAskedAt } from './conflicts/all.ts';
import { condition } from './conflicts/condition.ts';
import {
  type Conflict,
  type Inquiry,
  type Raised,
  type Severity,
  severityOf,
  subjectOf,
} from './conflicts/conflict.ts';
import { newWords } from './conflicts/new-words.ts';
import { indexMerchants } from './language/lexicon.ts';
import type { OwnMerchant } from './own-merchants.ts';
import { settle } from './questions.ts';
import { answerAtMerchant, precedentsAt } from './reading/precedents.ts';
import { readingOf } from './reading/reading-cache.ts';
import { makeReadMerchant, type ReadMerchant, readSpend } from './reading/spend-reading.ts';
import { judgementOf } from './verdict.ts';
import { isAskedFor, voucherOf } from './vouching.ts';

export { METHOD } from './verdict.ts';

/** How sure an aligned assessment is, by what it rests on. */
const CONFIDENCE: Record<Voucher['by'], number> = {
  DIRECTORY: 0.9,
  OPERATOR: 0.85,
  ALLOWANCE: 0.85,
  PERSON: 0.8,
  RAIL: 0.7,
  TRADE: 0.6,
};

/** Questions that ask for proof. The operator settled them by asking for the spend; what contradicts the purpose is found all the same. */
const SETTLED_BY_ALLOWANCES: ReadonlySet<Conflict> = new Set([condition, newWords]);

/**
 * Makes the assessor. It uses no model, no clock and no I/O. `merchants`: merchants that the operator knows. `without`: kinds
 * of conflicts that are left out, to measure what each is worth.
 *
 * Guarantees:
 * - The same input always returns the same assessment, and a request that passed validation never throws.
 * - A spend is aligned only by a fact that is not the agent's free text.
 * - Text that an agent adds to a request, in any field but merchant and payee, never makes its assessment better. Where an
 *   allowance of the operator asks for the spend in words, it never makes it better than it is without a description.
 * - Everything that speaks against a spend and is not final is a question, which people's answers settle.
 * - Time is bounded, because requests and purposes are read only up to a limit. What is longer is a question, too.
 */
export function makeBuiltInAssessor(
  merchants: readonly OwnMerchant[] = [],
  without: ReadonlySet<string> = new Set(),
): Assess {
  const readMerchant = makeReadMerchant(merchants.length === 0 ? undefined : indexMerchants(merchants));
  const conflicts = CONFLICTS.filter(({ kind }) => !without.has(kind));
  return (...spend) => {
    if (isLeaseIn(spend)) return judgementOfLease();
    const inquiry = inquiryOf(readMerchant, ...spend);
    return judge(inquiry, findingsOf(inquiry, conflicts, inquiry.authority.purpose.attention));
  };
}

/** The judgement of a spend at each level of attention, whatever level its authority names. */
export type AssessLevels = (...spend: Parameters<Assess>) => Record<AttentionLevel, Judgement>;

/** Makes an assessor that reads a spend once and judges it at each level, as `makeBuiltInAssessor` would at that level. */
export function makeAssessLevels(merchants: readonly OwnMerchant[] = []): AssessLevels {
  const readMerchant = makeReadMerchant(merchants.length === 0 ? undefined : indexMerchants(merchants));
  return (...spend) => {
    if (isLeaseIn(spend)) {
      const judgement = judgementOfLease();
      return { LOW: judgement, NORMAL: judgement, HIGH: judgement };
    }
    const inquiry = inquiryOf(readMerchant, ...spend);
    const found = findingsOf(inquiry, CONFLICTS, 'HIGH');
    const at = (level: AttentionLevel) =>
      judge(
        inquiry,
        found.filter(({ kind }) => isAskedAt(kind, level)),
      );
    return { LOW: at('LOW'), NORMAL: at('NORMAL'), HIGH: at('HIGH') };
  };
}

/** The built-in assessor without merchants of the operator. */
export const assessBuiltIn: Assess = makeBuiltInAssessor();

const isLeaseIn = ([authority, { action }]: Parameters<Assess>) => isLease(authority, action);

const readKnown = makeReadMerchant();

function inquiryOf(
  readMerchant: ReadMerchant,
  ...[authority, request, facts = NO_FACTS]: Parameters<Assess>
): Inquiry {
  const purpose = readingOf(authority, facts.allowances);
  const spend = readSpend(request, readMerchant);
  const is_asked_for = isAskedFor({ purpose, spend });
  const vouched = voucherOf({ authority, purpose, spend, facts, is_asked_for });
  return { authority, purpose, spend, facts, is_asked_for, vouched };
}

function findingsOf(
  inquiry: Inquiry,
  conflicts: readonly Conflict[],
  attention: AttentionLevel = 'NORMAL',
): Raised[] {
  const found: Raised[] = [];
  for (const conflict of conflicts) {
    const { kind } = conflict;
    if (inquiry.is_asked_for && SETTLED_BY_ALLOWANCES.has(conflict)) continue;
    if (!isAskedAt(kind, attention) || !conflict.applies(inquiry)) continue;
    for (const finding of conflict.find(inquiry))
      found.push({ kind, severity: severityOf(conflict, finding), finding });
  }
  return found;
}

/** The conflicts that fire on a spend, in their order, each with its severity there: to measure what each is worth. */
export function conflictsFound(...spend: Parameters<Assess>): { kind: QuestionKind; severity: Severity }[] {
  const inquiry = inquiryOf(readKnown, ...spend);
  const found = findingsOf(inquiry, CONFLICTS, inquiry.authority.purpose.attention);
  return CONFLICTS.flatMap(({ kind }) => {
    const severities = found.flatMap((one) => (one.kind === kind ? one.severity : []));
    const severity = (['final', 'weak', 'unclear'] as const).find((each) => severities.includes(each));
    return severity === undefined ? [] : { kind, severity };
  });
}

/** The question of text that is too long to be read whole. */
function tooLong({ authority, spend, purpose }: Inquiry): Raised[] {
  if (!spend.cut && !purpose.cut) return [];
  const { action, task = '', trace = [] } = spend.request;
  const { objective, success_criteria, constraints, context } = authority.purpose;
  const text = spend.cut
    ? [action.description, action.category, task, trace.map(({ step }) => step)]
    : [objective, success_criteria, constraints, context];
  return [
    {
      kind: 'too_long',
      // Where unclear spends pass, an agent could otherwise write more than is read, so that what speaks against its spend is not read.
      severity: authority.on_purpose_unclear === 'ALLOW' ? 'weak' : 'unclear',
      finding: {
        sentence: spend.cut ? PURPOSE.too_long_request() : PURPOSE.too_long_purpose(),
        evidence: [],
        about: subjectOf(null, [shownHash(sha256(JSON.stringify(text)))]),
      },
    },
  ];
}

/** The question of a merchant that nobody vouches for; none where somebody does without having been asked. */
function newMerchant(inquiry: Inquiry): Raised[] {
  const { authority, spend, facts, vouched } = inquiry;
  const { action } = spend.request;
  const answer = answerAtMerchant(facts, authority, action);
  if (vouched !== undefined && (vouched.voucher.by !== 'PERSON' || answer === undefined)) return [];
  const name = spend.merchant.raw;
  const worded = facts.allowances.find(({ purpose }) => purpose !== undefined);
  const is_approved =
    answer?.answer === 'YES' || precedentsAt(facts, action).some((one) => one.usual_minor.size > 0);
  const is_covered = settledBy(answer, action, authority)?.answer === 'YES';
  const sentence = is_covered
    ? PURPOSE.new_merchant_approved(name)
    : is_approved
      ? PURPOSE.new_merchant_larger(name)
      : facts.paid.length > 0
        ? PURPOSE.new_merchant_paid(name)
        : worded !== undefined
          ? PURPOSE.new_merchant_unasked(name, worded.name)
          : PURPOSE.new_merchant(name);
  return [{ kind: 'new_merchant', severity: 'unclear', finding: { sentence, evidence: [], about: null } }];
}

function judge(inquiry: Inquiry, found: readonly Raised[]): Judgement {
  const finals = found.filter(({ severity }) => severity === 'final');
  const [final] = finals;
  if (final !== undefined) {
    const evidence = [...finals, ...found].flatMap(({ finding }) => finding.evidence);
    const confidence = Math.min(0.95, 0.85 + 0.05 * (found.length - 1));
    return judgementOf('PURPOSE_MISALIGNED', confidence, final.finding.sentence, evidence, {
      is_final: true,
    });
  }
  const { vouched } = inquiry;
  const settled = settle(inquiry, [...found, ...tooLong(inquiry), ...newMerchant(inquiry)]);
  const { questions, rejected, open } = settled;
  const evidence = [...settled.evidence, ...(vouched?.evidence ?? [])];
  if (rejected !== undefined)
    return judgementOf('PURPOSE_MISALIGNED', 0.9, rejected, evidence, { is_final: true, questions });
  const [asked] = open;
  const weak = open.find(({ severity }) => severity === 'weak');
  const vouched_by = vouched?.voucher ?? null;
  if (weak !== undefined)
    return judgementOf('PURPOSE_MISALIGNED', 0.7, weak.finding.sentence, evidence, { questions, vouched_by });
  if (asked !== undefined || vouched === undefined) {
    const sentence = asked?.finding.sentence ?? PURPOSE.new_merchant(inquiry.spend.merchant.raw);
    return judgementOf('PURPOSE_UNCLEAR', 0.5, sentence, evidence, { questions, vouched_by });
  }
  return judgementOf(
    'PURPOSE_ALIGNED',
    CONFIDENCE[vouched.voucher.by],
    `${vouched.sentence} ${PURPOSE.aligned()}`,
    evidence,
    { vouched_by, questions },
  );
}
