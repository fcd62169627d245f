import type { Assess, Judgement } from '../domain/assessment.ts';
import { NO_FACTS, type Voucher } from '../domain/spend-facts.ts';
import { CONFLICTS } from './conflicts/all.ts';
import {
  type Conflict,
  type Contradiction,
  type Inquiry,
  mostSevere,
  type Severity,
  severityOf,
} from './conflicts/conflict.ts';
import { doubtAbout } from './doubts.ts';
import { indexMerchants } from './language/lexicon.ts';
import type { OwnMerchant } from './own-merchants.ts';
import { readingOf } from './reading/reading-cache.ts';
import { makeReadMerchant, readSpend } from './reading/spend-reading.ts';
import { judgementOf } from './verdict.ts';
import { voucherOf } from './vouching.ts';

export { METHOD } from './verdict.ts';

/** How sure an aligned assessment is, by what it rests on. */
const CONFIDENCE: Record<Voucher['by'], number> = {
  DIRECTORY: 0.9,
  OPERATOR: 0.85,
  PERSON: 0.8,
  RAIL: 0.7,
  TRADE: 0.6,
};

/**
 * Makes the assessor. It uses no model, no clock and no I/O. `merchants`: merchants that the operator knows. `without`: ids
 * of conflicts that are left out, to measure what each is worth.
 *
 * Guarantees:
 * - The same input always returns the same assessment, and a request that passed validation never throws.
 * - A spend is aligned only by a fact that is not the agent's free text.
 * - Text that an agent adds to a request, in any field but merchant and payee, never makes its assessment better.
 * - Time is bounded, because requests and purposes are read only up to a limit. What is longer is never aligned.
 */
export function makeBuiltInAssessor(
  merchants: readonly OwnMerchant[] = [],
  without: ReadonlySet<string> = new Set(),
): Assess {
  const readMerchant = makeReadMerchant(merchants.length === 0 ? undefined : indexMerchants(merchants));
  const conflicts = CONFLICTS.filter(({ id }) => !without.has(id));
  return (authority, request, facts = NO_FACTS) => {
    const purpose = readingOf(authority);
    const spend = readSpend(request, readMerchant);
    return judge({ authority, purpose, spend, facts }, conflicts);
  };
}

/** The built-in assessor without merchants of the operator. */
export const assessBuiltIn: Assess = makeBuiltInAssessor();

interface Found {
  conflict: Conflict;
  finding: Contradiction;
}

function findingsOf(inquiry: Inquiry, conflicts: readonly Conflict[]): Found[] {
  const found: Found[] = [];
  for (const conflict of conflicts) {
    const finding = conflict.applies(inquiry) ? conflict.find(inquiry) : undefined;
    if (finding !== undefined) found.push({ conflict, finding });
  }
  return found;
}

/** The conflicts that fire on a spend, in their order, each with its severity there: to measure what each is worth. */
export function conflictsFound(
  ...[authority, request, facts = NO_FACTS]: Parameters<Assess>
): { id: string; severity: Severity }[] {
  const inquiry = { authority, purpose: readingOf(authority), spend: readSpend(request, readKnown), facts };
  return findingsOf(inquiry, CONFLICTS).map(({ conflict, finding }) => ({
    id: conflict.id,
    severity: severityOf(conflict, finding),
  }));
}

const readKnown = makeReadMerchant();

function judge(inquiry: Inquiry, conflicts: readonly Conflict[]): Judgement {
  const found = findingsOf(inquiry, conflicts);
  const severities = found.map(({ conflict, finding }) => severityOf(conflict, finding));
  const worst = mostSevere(severities);
  const told = found[severities.indexOf(worst ?? 'unclear')]?.finding;
  const evidence = [...(told?.evidence ?? []), ...found.flatMap(({ finding }) => finding.evidence)];
  if (told !== undefined && (worst === 'final' || worst === 'weak')) {
    const confidence = Math.min(0.95, (worst === 'final' ? 0.85 : 0.7) + 0.05 * (found.length - 1));
    return judgementOf('PURPOSE_MISALIGNED', confidence, told.sentence, evidence, {
      is_final: worst === 'final',
    });
  }

  const { authority, spend, purpose } = inquiry;
  if (spend.cut || purpose.cut) {
    const sentence = spend.cut
      ? 'The request has too much text to assess, so nothing can vouch for it.'
      : 'The purpose has too much text to assess, so nothing can vouch for a spend.';
    // Where unclear spends pass, an agent could otherwise write so much that what speaks against its spend is not read.
    return authority.on_purpose_unclear === 'ALLOW'
      ? judgementOf('PURPOSE_MISALIGNED', 0.5, sentence, evidence)
      : judgementOf('PURPOSE_UNCLEAR', 0.5, sentence, evidence);
  }
  const vouched = voucherOf(inquiry);
  if (told !== undefined) {
    return judgementOf('PURPOSE_UNCLEAR', 0.6, told.sentence, [...evidence, ...(vouched?.evidence ?? [])]);
  }
  if (vouched === undefined) {
    return judgementOf(
      'PURPOSE_UNCLEAR',
      0.5,
      `"${spend.merchant.raw}" is in neither the agent's purpose nor its listed merchants, and nobody has allowed it before.`,
      [],
    );
  }
  const doubt = doubtAbout(inquiry, vouched);
  if (doubt !== undefined) {
    return judgementOf('PURPOSE_UNCLEAR', 0.55, doubt.sentence, [...doubt.evidence, ...vouched.evidence]);
  }
  return judgementOf(
    'PURPOSE_ALIGNED',
    CONFIDENCE[vouched.voucher.by],
    `${vouched.sentence}, and nothing in the request contradicts it.`,
    vouched.evidence,
    { vouched_by: vouched.voucher },
  );
}
