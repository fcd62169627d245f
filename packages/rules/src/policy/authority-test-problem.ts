import type { AuthorityTestStep, TestAllowance } from '@purser/contract/routes/authority-tests';
import type { OutcomeType } from '../domain/outcomes.ts';

type StepProblem = { field: string; problem: string } | null;

const ABOUT = ['decide', 'outcome', 'review'] as const;
const OF_DECIDE = ['as', 'purpose', 'expect'] as const;
const AMOUNT_REQUIRED: readonly OutcomeType[] = ['SPEND_EXECUTED', 'PARTIALLY_REFUNDED'];
const FIRST_AT = '1970-01-01T00:00:00.000Z';
const LAST_AT = '2199-12-31T23:59:59.999Z';

/** Returns the problem of a step by itself; null if there is none. */
export function stepProblem(step: AuthorityTestStep): StepProblem {
  const about = ABOUT.filter((name) => step[name] !== undefined);
  const [first, second] = about;
  if (first === undefined)
    return { field: 'decide', problem: 'is missing; a step has decide, outcome or review' };
  if (second !== undefined) return { field: second, problem: `must not be combined with ${first}` };
  const extra = first === 'decide' ? undefined : OF_DECIDE.find((name) => step[name] !== undefined);
  if (extra !== undefined) return { field: extra, problem: 'has no effect without decide' };
  if (step.at < FIRST_AT || step.at > LAST_AT)
    return { field: 'at', problem: 'must be a time in the years 1970 to 2199' };
  const { outcome } = step;
  return outcome !== undefined && outcome.amount_minor === undefined && AMOUNT_REQUIRED.includes(outcome.type)
    ? { field: 'outcome.amount_minor', problem: `is required for ${outcome.type}` }
    : null;
}

/** Returns the first problem of steps in their order; null if there is none. */
export function stepsProblem({
  steps,
  allowances = [],
}: {
  steps: readonly AuthorityTestStep[];
  allowances?: readonly Pick<TestAllowance, 'as' | 'parent'>[];
}): StepProblem {
  const known = new Set<string>();
  for (const [i, { as, parent }] of allowances.entries()) {
    const field = `allowances[${i}]`;
    if (known.has(as))
      return { field: `${field}.as`, problem: 'is already the name of an earlier allowance' };
    if (parent !== undefined && !known.has(parent))
      return { field: `${field}.parent`, problem: 'must be the name, `as`, of an earlier allowance' };
    known.add(as);
  }
  const names = new Set<string>();
  let before = FIRST_AT;
  for (const [i, { at, as, decide, outcome, review }] of steps.entries()) {
    const wrong = (field: string, problem: string) => ({ field: `steps[${i}].${field}`, problem });
    if (at < before) return wrong('at', 'must not be earlier than the previous step');
    before = at;
    if (decide?.allowance !== undefined && !known.has(decide.allowance))
      return wrong('decide.allowance', 'must be the name, `as`, of one of allowances');
    const of = outcome?.of ?? review?.of;
    if (of !== undefined && !names.has(of))
      return wrong(
        outcome === undefined ? 'review.of' : 'outcome.of',
        'must be the name, `as`, of an earlier step',
      );
    if (as === undefined) continue;
    if (names.has(as)) return wrong('as', 'is already the name of an earlier step');
    names.add(as);
  }
  return null;
}
