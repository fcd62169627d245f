import type { Rule, Together } from '@purser/contract/schema';
import { issuerProblem } from '@purser/rules/allowances/issuers';
import { authorityProblem } from '@purser/rules/policy/authority-problem';
import { stepProblem, stepsProblem } from '@purser/rules/policy/authority-test-problem';
import { reviewPolicyProblem } from '@purser/rules/reviews/review-policy';
import { isTimeZone } from '@purser/rules/values/calendar';
import { isActiveCurrency } from '@purser/rules/values/money';
import { normaliseText } from '@purser/rules/values/text';
import { boundOfPeriod, instantMs } from '@purser/rules/values/timestamps';

export type { Rule, Together };

/**
 * The rules about several fields. Each returns the field at fault, as a path within the object, and its problem; null if
 * there is none.
 */
export const TOGETHER: Record<Together, (value: never) => { field: string; problem: string } | null> = {
  allowance_issuer: issuerProblem,
  authority: authorityProblem,
  authority_test_step: stepProblem,
  authority_test_steps: stepsProblem,
  review_policy: reviewPolicyProblem,
};

/** The result of a rule: the value that the handler receives, or the problem ("must be …"). */
export type Finding = { ok: true; value: unknown } | { ok: false; problem: string };

/** Maximum number of values of a query parameter: each needs its own lookup. */
const MAX_SEVERAL = 50;

const TIMESTAMP_EXPECTED = 'must be an RFC 3339 timestamp with an offset, such as 2026-11-21T08:30:00Z';

type Check = (value: unknown) => Finding;

const wrong = (problem: string): Finding => ({ ok: false, problem });

const ofString =
  (check: (text: string) => Finding): Check =>
  (value) =>
    typeof value === 'string' ? check(value) : wrong('must be a string');

/** A check that changes nothing: it passes what `isGood` accepts, and says what it `must` be otherwise. */
const unchanged =
  (isGood: (text: string) => boolean, must: string) =>
  (text: string): Finding =>
    isGood(text) ? { ok: true, value: text } : wrong(must);

const CHECKS: { [Kind in Rule['kind']]: (rule: Extract<Rule, { kind: Kind }>) => Check } = {
  text({ text: kind, min, max }) {
    const limits = { kind, min, max };
    return ofString((text) => {
      const normalised = normaliseText(text, limits);
      return normalised.ok ? { ok: true, value: normalised.text } : wrong(normalised.problem);
    });
  },
  pattern(rule) {
    const pattern = new RegExp(rule.pattern, 'u');
    return ofString(unchanged((text) => pattern.test(text), rule.must));
  },
  currency: () => ofString(unchanged(isActiveCurrency, 'must be an active ISO 4217 code in upper case')),
  timestamp: () => ofString(unchanged((text) => instantMs(text) !== null, TIMESTAMP_EXPECTED)),
  instant: () =>
    ofString((text) => {
      const moment_ms = instantMs(text);
      return moment_ms === null
        ? wrong(TIMESTAMP_EXPECTED)
        : { ok: true, value: new Date(moment_ms).toISOString() };
    }),
  time_zone: () =>
    ofString(
      unchanged(
        isTimeZone,
        'must be a time zone name of the IANA database, in its exact spelling, such as Europe/Berlin',
      ),
    ),
  free_object:
    ({ max_bytes }) =>
    (value) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        return wrong('must be an object');
      }
      return Buffer.byteLength(JSON.stringify(value)) <= max_bytes
        ? { ok: true, value }
        : wrong(`must be at most ${max_bytes} bytes of JSON`);
    },
  ascending:
    ({ min, max, max_items }) =>
    (value) => {
      const numbers: unknown[] = Array.isArray(value) ? value : [];
      const is_right = numbers.every(
        (number, i) =>
          Number.isInteger(number) &&
          (number as number) >= (i === 0 ? min : (numbers[i - 1] as number) + 1) &&
          (number as number) <= max,
      );
      return is_right && numbers.length > 0 && numbers.length <= max_items
        ? { ok: true, value }
        : wrong(`must be 1 to ${max_items} ascending integers from ${min} to ${max}`);
    },
  query_integer:
    ({ min, max }) =>
    (value) => {
      // Only digits are accepted. Number() would also take " 1", "1e3" and "0x10".
      const number = typeof value === 'string' && /^-?\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
      return number >= min && number <= max
        ? { ok: true, value: number }
        : wrong(`must be an integer from ${min} to ${max}`);
    },
  query_boolean: () => (value) =>
    value === 'true' || value === 'false'
      ? { ok: true, value: value === 'true' }
      : wrong('must be true or false'),
  query_bound:
    ({ side }) =>
    (value) => {
      const bound = typeof value === 'string' ? boundOfPeriod(value, side) : null;
      return bound === null
        ? wrong('must be a date (2026-11-21) or an RFC 3339 timestamp with an offset (2026-11-21T08:30:00Z)')
        : { ok: true, value: bound };
    },
  one_of:
    ({ values }) =>
    (value) =>
      values.includes(value as string) ? { ok: true, value } : wrong(`must be one of ${values.join(', ')}`),
  query_several({ each }) {
    const check = makeCheck(each);
    return (value) => {
      const parts = typeof value === 'string' ? [...new Set(splitValues(value))].sort() : [];
      if (parts.length > MAX_SEVERAL) return wrong(`must have at most ${MAX_SEVERAL} values`);
      for (const part of parts) {
        const found = check(part);
        if (!found.ok) return wrong(`${found.problem}, or several of them separated by commas`);
      }
      return { ok: true, value: parts };
    };
  },
};

/** Values separated by commas. In a value, `\,` is a comma and `\\` is a backslash; any other backslash is itself. */
const splitValues = (text: string): string[] =>
  (`,${text}`.match(/,(?:\\[\\,]|[^,])*/g) ?? []).map((part) => part.slice(1).replace(/\\([\\,])/g, '$1'));

/** Makes the check of a rule. It is made once and called for every request. */
export function makeCheck(rule: Rule): Check {
  return CHECKS[rule.kind](rule as never);
}
