import type { ReasonCode } from '../reasons.ts';
import { REVIEW_CAUSES, REVIEW_REASONS } from './reasons.ts';

/** The parts of a decision that say why it needs a review. */
interface Reviewed {
  policy_trace: readonly { outcome: string; reason_code: ReasonCode | null }[];
  purpose: { evidence: readonly { effect: string }[] };
}

/** Returns the reasons that made a review necessary, the first one first; empty for a decision without a review. */
export function causesOf({ policy_trace }: Pick<Reviewed, 'policy_trace'>): ReasonCode[] {
  const codes = policy_trace.flatMap(({ outcome, reason_code }) =>
    outcome === 'REVIEW' && reason_code !== null ? [reason_code] : [],
  );
  return [...new Set(codes)];
}

/** The value that all of these have; null where they differ or there are none. */
function agreed<T>(values: readonly (T | null)[]): T | null {
  const [first = null, ...rest] = values;
  return rest.every((value) => value === first) ? first : null;
}

const choices = (of: Readonly<Record<string, string>>) =>
  Object.entries(of).map(([code, text]) => ({ code, text }));
const CHOICES = { ALLOW: choices(REVIEW_REASONS.ALLOW), DENY: choices(REVIEW_REASONS.DENY) };

/**
 * Returns the reasons that a reviewer may choose from, and those that are chosen unless the reviewer chooses: with several
 * causes only one that fits them all. `bulk` is true if every cause permits it, no evidence is suspicious, and one approval
 * without a signature is enough.
 */
export function reviewReasons(
  { policy_trace, purpose }: Reviewed,
  { required, signed }: { required: number; signed: boolean },
) {
  const causes = causesOf({ policy_trace }).map((code) => REVIEW_CAUSES[code]);
  const is_suspicious = purpose.evidence.some(({ effect }) => effect === 'suspicious');
  return {
    ...CHOICES,
    default_allow: agreed(causes.map((cause) => cause?.default_allow ?? null)),
    default_deny: agreed(causes.map((cause) => cause?.default_deny ?? null)),
    bulk:
      causes.length > 0 &&
      causes.every((cause) => cause?.bulk === true) &&
      !is_suspicious &&
      required === 1 &&
      !signed,
  };
}
