import type { Rule, Together } from '@purser/contract/schema';
import { authorityProblem } from '@purser/rules/policy/authority-problem';
import { stepProblem, stepsProblem } from '@purser/rules/policy/authority-test-problem';
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
  authority: authorityProblem,
  authority_test_step: stepProblem,
  authority_test_steps: stepsProblem,
};

/** The result of a rule: the value that the handler receives, or the problem ("must be …"). */
export type Finding = { ok: true; value: unknown } | { ok: false; problem: string };

/** Maximum number of values of a query parameter: each needs its own lookup. */
const MAX_SEVERAL = 50;

const TIMESTAMP_EXPECTED = 'must be an RFC 3339 timestamp with an offset, such as 2026-11-21T08:30:00Z';
const STRING_EXPECTED: Finding = { ok: false, problem: 'must be a string' };

function wrong(problem: string): Finding {
  return { ok: false, problem };
}

/** Makes the check of a rule. It is made once and called for every request. */
export function makeCheck(rule: Rule): (value: unknown) => Finding {
  switch (rule.kind) {
    case 'text': {
      const limits = { kind: rule.text, min: rule.min, max: rule.max };
      return (value) => {
        if (typeof value !== 'string') return STRING_EXPECTED;
        const normalised = normaliseText(value, limits);
        return normalised.ok ? { ok: true, value: normalised.text } : wrong(normalised.problem);
      };
    }
    case 'pattern': {
      const pattern = new RegExp(rule.pattern, 'u');
      return (value) => {
        if (typeof value !== 'string') return STRING_EXPECTED;
        return pattern.test(value) ? { ok: true, value } : wrong(rule.must);
      };
    }
    case 'currency':
      return (value) => {
        if (typeof value !== 'string') return STRING_EXPECTED;
        return isActiveCurrency(value)
          ? { ok: true, value }
          : wrong('must be an active ISO 4217 code in upper case');
      };
    case 'timestamp':
      return (value) => {
        if (typeof value !== 'string') return STRING_EXPECTED;
        return instantMs(value) !== null ? { ok: true, value } : wrong(TIMESTAMP_EXPECTED);
      };
    case 'instant':
      return (value) => {
        if (typeof value !== 'string') return STRING_EXPECTED;
        const moment_ms = instantMs(value);
        return moment_ms === null
          ? wrong(TIMESTAMP_EXPECTED)
          : { ok: true, value: new Date(moment_ms).toISOString() };
      };
    case 'time_zone':
      return (value) => {
        if (typeof value !== 'string') return STRING_EXPECTED;
        return isTimeZone(value)
          ? { ok: true, value }
          : wrong(
              'must be a time zone name of the IANA database, in its exact spelling, such as Europe/Berlin',
            );
      };
    case 'free_object':
      return (value) => {
        if (typeof value !== 'object' || value === null || Array.isArray(value))
          return wrong('must be an object');
        return Buffer.byteLength(JSON.stringify(value)) <= rule.max_bytes
          ? { ok: true, value }
          : wrong(`must be at most ${rule.max_bytes} bytes of JSON`);
      };
    case 'query_integer':
      return (value) => {
        // Only digits are accepted. Number() would also take " 1", "1e3" and "0x10".
        const number = typeof value === 'string' && /^-?\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
        return number >= rule.min && number <= rule.max
          ? { ok: true, value: number }
          : wrong(`must be an integer from ${rule.min} to ${rule.max}`);
      };
    case 'query_boolean':
      return (value) =>
        value === 'true' || value === 'false'
          ? { ok: true, value: value === 'true' }
          : wrong('must be true or false');
    case 'query_bound':
      return (value) => {
        const bound = typeof value === 'string' ? boundOfPeriod(value, rule.side) : null;
        return bound === null
          ? wrong(
              'must be a date (2026-11-21) or an RFC 3339 timestamp with an offset (2026-11-21T08:30:00Z)',
            )
          : { ok: true, value: bound };
      };
    case 'one_of':
      return (value) =>
        rule.values.includes(value as string)
          ? { ok: true, value }
          : wrong(`must be one of ${rule.values.join(', ')}`);
    case 'query_several': {
      const check = makeCheck(rule.each);
      return (value) => {
        const parts = typeof value === 'string' ? [...new Set(value.split(','))].sort() : [];
        if (parts.length > MAX_SEVERAL) return wrong(`must have at most ${MAX_SEVERAL} values`);
        for (const part of parts) {
          const found = check(part);
          if (!found.ok) return wrong(`${found.problem}, or several of them separated by commas`);
        }
        return { ok: true, value: parts };
      };
    }
  }
}
