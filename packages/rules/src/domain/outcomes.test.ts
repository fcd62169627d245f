import { MAX_REPORTS, OUTCOME_SOURCES, OUTCOME_TYPES } from '@purser/contract/values/decisions';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  exactRepeat,
  judgeOutcome,
  type Outcome,
  type OutcomeReport,
  type OutcomeSource,
  summarizeOutcomes,
} from './outcomes.ts';

const A = 'CLIENT_REPORTED';
const B = 'PAYMENT_RAIL';

/** `E100`, `F`, `P40b` (with the reference "b"), `R`: a report in short. */
function report(short: string, source: OutcomeSource): OutcomeReport {
  const [, letter, amount, reference] = /^([EFCPR])(\d*)([a-z]?)$/.exec(short) as RegExpExecArray;
  const type = OUTCOME_TYPES['EFCRP'.indexOf(letter as string)] as OutcomeReport['type'];
  return {
    type,
    amount_minor: amount === '' ? null : Number(amount),
    currency: 'EUR',
    external_reference: reference === '' ? null : (reference as string),
    source,
  };
}

type Said = 'new' | 'adjusted' | 'contradiction' | 'repeat' | 'conflict';

/** Records one report after the others, as the command does. */
function record(earlier: Outcome[], given: OutcomeReport): { said: Said; outcomes: Outcome[] } {
  if (exactRepeat(earlier, given) !== undefined) return { said: 'repeat', outcomes: earlier };
  const judged = judgeOutcome(earlier, given);
  if (!judged.ok) return { said: 'conflict', outcomes: earlier };
  const outcome = { ...given, amount_minor: judged.amount_minor } as Outcome;
  const said: Said = judged.flags.includes('CONTRADICTS_CLIENT')
    ? 'contradiction'
    : judged.flags.includes('ADJUSTED')
      ? 'adjusted'
      : 'new';
  return { said, outcomes: [...earlier, outcome] };
}

function history(shorts: string, source: OutcomeSource): Outcome[] {
  let outcomes: Outcome[] = [];
  for (const short of shorts.split(' ').filter((each) => each !== '')) {
    const recorded = record(outcomes, report(short, source));
    expect(['new', 'adjusted'], `${short} of ${shorts}`).toContain(recorded.said);
    outcomes = recorded.outcomes;
  }
  return outcomes;
}

const SIGNS: Record<string, Said> = {
  n: 'new',
  a: 'adjusted',
  '!': 'contradiction',
  r: 'repeat',
  '-': 'conflict',
};
const NEXT = [
  'E100',
  'E90',
  'F',
  'C',
  'P40',
  'P40b',
  'P60',
  'P61',
  'R',
  'R60',
  'R61',
  'R100',
  'E100b',
  'E110',
];

/** So far × next, from the wire contract's table: n new, a new and adjusted, ! new and contradicting, r repeat, - conflict. */
const CLIENT_AFTER_CLIENT: [so_far: string, next: string][] = [
  //                 E100 E90 F C  P40 P40b P60 P61  R R60 R61 R100  E100b E110
  ['', 'n n n n  - - - -  - - - -  n n'],
  ['E100', 'r - - -  n n n n  n - - n  - -'],
  ['F', '- - r -  - - - -  - - - -  - -'],
  ['C', '- - - r  - - - -  - - - -  - -'],
  ['E100 P40', 'r - - -  r n n -  n n - -  - -'],
  ['E100 P40 P60b', 'r - - -  r - - -  - - - -  - -'],
  ['E100 P40 R', 'r - - -  r - - -  r r - -  - -'],
  ['E100 R', 'r - - -  - - - -  r - - r  - -'],
];
/** The rail may raise what it reported as executed, also after refunds, and report it under another reference. */
const RAIL_AFTER_RAIL: [so_far: string, next: string][] = [
  //                 E100 E90 F C  P40 P40b P60 P61  R R60 R61 R100  E100b E110
  ['', 'n n n n  - - - -  - - - -  n n'],
  ['E100', 'r - - -  n n n n  n - - n  n a'],
  ['F', '- - r -  - - - -  - - - -  - -'],
  ['C', '- - - r  - - - -  - - - -  - -'],
  ['E100 P40', 'r - - -  r n n -  n n - -  n a'],
  ['E100 P40 P60b', 'r - - -  r - - -  - - - -  n a'],
  ['E100 P40 R', 'r - - -  r - - -  r r - -  n a'],
  ['E100 R', 'r - - -  - - - -  r - - r  n a'],
  ['E100 E110', 'r - - -  n n n n  n - - -  - r'],
  ['E100 P40 E110', 'r - - -  r n n n  n - - -  - r'],
  ['E100 R E110', 'r - - -  - - - -  r - - r  - r'],
];
const RAIL_AFTER_CLIENT: [so_far: string, next: string][] = [
  //                 E100 E90 F C  P40 P40b P60 P61  R R60 R61 R100  E100b E110
  ['', 'n n n n  - - - -  - - - -  n n'],
  ['E100', 'n ! ! !  - - - -  - - - -  n !'],
  ['F', '! ! n !  - - - -  - - - -  ! !'],
  ['C', '! ! ! n  - - - -  - - - -  ! !'],
  ['E100 P40', 'n ! ! !  - - - -  - - - -  n !'],
  ['E100 R', 'n ! ! !  - - - -  - - - -  n !'],
];
const CLIENT_AFTER_RAIL: [so_far: string, next: string][] = [
  //                 E100 E90 F C  P40 P40b P60 P61  R R60 R61 R100  E100b E110
  ['', 'n n n n  - - - -  - - - -  n n'],
  ['E100', 'n - - -  n n n n  n - - n  n -'],
  ['F', '- - n -  - - - -  - - - -  - -'],
  ['C', '- - - n  - - - -  - - - -  - -'],
  // P40 and P40b say once more what the rail said: it gave no reference.
  ['E100 P40', 'n - - -  n n n -  n n - -  n -'],
  ['E100 P40 P60b', 'n - - -  n n n -  n n - -  n -'],
  ['E100 R', 'n - - -  - - - -  n - - n  n -'],
  ['E100 E110', 'n - - -  n n n n  n - - -  n n'],
];

const MATRICES: [name: string, first: OutcomeSource, then: OutcomeSource, rows: [string, string][]][] = [
  ['a client after itself', A, A, CLIENT_AFTER_CLIENT],
  ['the rail after itself', B, B, RAIL_AFTER_RAIL],
  ['the rail after a client', A, B, RAIL_AFTER_CLIENT],
  ['a client after the rail', B, A, CLIENT_AFTER_RAIL],
];

describe.each(MATRICES)('what may follow: %s', (_name, first, then, rows) => {
  test.each(rows)('after "%s"', (so_far, signs) => {
    const expected = signs.split(/ +/).map((sign) => SIGNS[sign]);
    expect(expected).toHaveLength(NEXT.length);
    const earlier = history(so_far, first);
    const said = NEXT.map((next) => `${next}: ${record(earlier, report(next, then)).said}`);
    expect(said).toEqual(NEXT.map((next, i) => `${next}: ${expected[i]}`));
  });
});

/** Each line: client reports and rail reports in order; state, executed, refunded, verified. */
const STANDINGS: [reports: string, state: string, executed: number, refunded: number, verified: boolean][] = [
  ['', 'NONE', 0, 0, false],
  ['c:E100', 'EXECUTED', 100, 0, false],
  ['c:F', 'FAILED', 0, 0, false],
  ['c:C', 'CANCELLED', 0, 0, false],
  ['r:E100', 'EXECUTED', 100, 0, true],
  ['c:E100 r:E100', 'EXECUTED', 100, 0, true],
  ['r:E100 c:E100', 'EXECUTED', 100, 0, true],
  ['c:F r:F', 'FAILED', 0, 0, true],
  ['c:E100 r:E90', 'EXECUTED', 90, 0, false],
  ['c:F r:E90', 'EXECUTED', 90, 0, false],
  ['c:E100 r:F', 'FAILED', 0, 0, false],
  ['c:F r:C', 'CANCELLED', 0, 0, false],
  ['c:E100 c:P1', 'PARTIALLY_REFUNDED', 100, 1, false],
  ['c:E100 c:P99', 'PARTIALLY_REFUNDED', 100, 99, false],
  ['c:E100 c:P99 c:P1', 'REFUNDED', 100, 100, false],
  ['c:E100 c:P30 c:R', 'REFUNDED', 100, 100, false],
  ['c:E100 c:P30a c:P30b', 'PARTIALLY_REFUNDED', 100, 60, false],
  // The two say the same refund: it counts once, whichever spoke first.
  ['c:E100 c:P30 r:E100 r:P30', 'PARTIALLY_REFUNDED', 100, 30, true],
  ['r:E100 r:P30 c:P30', 'PARTIALLY_REFUNDED', 100, 30, true],
  ['r:E100 r:P30 c:P30 c:P20', 'PARTIALLY_REFUNDED', 100, 50, false],
  ['c:E100 c:P30a r:E100 r:P30b', 'PARTIALLY_REFUNDED', 100, 60, false],
  ['c:E100 c:P30a r:E100 r:P30a', 'PARTIALLY_REFUNDED', 100, 30, true],
  ['r:E100 r:P40 c:P60 r:P60', 'REFUNDED', 100, 100, true],
  ['r:E100 r:P40 c:P60', 'PARTIALLY_REFUNDED', 100, 40, true],
  ['r:E100 r:P40 c:P60a', 'PARTIALLY_REFUNDED', 100, 40, true],
  ['r:E100 r:P40b c:P60a', 'REFUNDED', 100, 100, false],
  ['r:E100 c:R', 'REFUNDED', 100, 100, false],
  ['r:E100 r:P40 c:R', 'REFUNDED', 100, 100, false],
  // The same money told with two amounts counts once, and the rail's amount is right.
  ['r:E100 r:P50 c:P40', 'PARTIALLY_REFUNDED', 100, 50, true],
  ['c:E100 c:P40 r:E100 r:P50', 'PARTIALLY_REFUNDED', 100, 50, true],
  ['c:E100 c:P40a r:E100 r:P50a', 'PARTIALLY_REFUNDED', 100, 50, true],
  ['r:E100 r:R c:R', 'REFUNDED', 100, 100, true],
  // What cannot both be right: the rail is.
  ['c:E100 c:P60a r:E100 r:P60b', 'PARTIALLY_REFUNDED', 100, 60, true],
  ['c:E100 c:R r:E50', 'REFUNDED', 50, 50, false],
  ['c:E100 c:R r:E150', 'PARTIALLY_REFUNDED', 150, 100, false],
  ['c:E100 c:R r:F', 'FAILED', 0, 0, false],
  // The rail captured more later. A client that reported what the rail did at the time contradicts nothing.
  ['r:E100 r:E150', 'EXECUTED', 150, 0, true],
  ['r:E100 r:E150 r:E150b', 'EXECUTED', 150, 0, true],
  ['r:E100 r:P40 r:E150', 'PARTIALLY_REFUNDED', 150, 40, true],
  ['r:E100 r:R r:E150', 'PARTIALLY_REFUNDED', 150, 100, true],
  ['r:E100 r:P40 r:P60b r:E150 r:R50', 'REFUNDED', 150, 150, true],
  ['r:E100 r:R r:E150 r:R50', 'REFUNDED', 150, 150, true],
  ['c:E100 r:E100 r:E150', 'EXECUTED', 150, 0, true],
  ['r:E100 r:E150 c:E100', 'EXECUTED', 150, 0, true],
  ['c:E150 r:E100 r:E150', 'EXECUTED', 150, 0, true],
  ['c:E120 r:E100 r:E150', 'EXECUTED', 150, 0, false],
  ['c:E100 c:R r:E100 r:E150', 'PARTIALLY_REFUNDED', 150, 100, false],
];

describe('what all reports say together', () => {
  test.each(STANDINGS)('%s', (reports, outcome_state, executed_minor, refunded_minor, verified) => {
    let outcomes: Outcome[] = [];
    for (const each of reports.split(' ').filter((one) => one !== '')) {
      const [who, short] = each.split(':') as [string, string];
      const recorded = record(outcomes, report(short, who === 'r' ? B : A));
      expect(['new', 'adjusted', 'contradiction'], each).toContain(recorded.said);
      outcomes = recorded.outcomes;
    }
    expect(summarizeOutcomes(outcomes)).toMatchObject({
      outcome_state,
      executed_minor,
      refunded_minor,
      verified,
      settled_by_rail: reports.includes('r:'),
    });
  });

  test('a refund of the rail that cannot be true beside the client’s is flagged as a contradiction', () => {
    const claimed = [...history('E100 P60a', A), ...history('E100', B)];
    expect(record(claimed, report('P60b', B)).said).toBe('contradiction');
    expect(record(claimed, report('P60a', B)).said).toBe('new');
    expect(record(claimed, report('P40b', B)).said).toBe('new');
  });

  test('the amount recorded of a full refund is what was left', () => {
    const earlier = history('E100 P30', A);
    expect(judgeOutcome(earlier, report('R', A))).toMatchObject({ ok: true, amount_minor: 70 });
    expect(judgeOutcome(earlier, report('R70', A))).toMatchObject({ ok: true, amount_minor: 70 });
  });
});

describe('an exact repeat', () => {
  const stored = history('E100 P40b', A);
  test.each([
    ['the same', report('P40b', A), true],
    ['another amount', report('P41b', A), false],
    ['another reference', report('P40c', A), false],
    ['no reference', report('P40', A), false],
    ['another source', report('P40b', B), false],
    ['another currency', { ...report('P40b', A), currency: 'USD' }, false],
    ['another type', report('E40b', A), false],
  ])('%s', (_name, given, repeats) => {
    expect(exactRepeat(stored, given) !== undefined).toBe(repeats);
  });
});

test('whatever is reported in whatever order: sums stay within bounds, the rail prevails, a repeat is found', () => {
  const any = fc.record({
    type: fc.constantFrom(...OUTCOME_TYPES),
    amount_minor: fc.integer({ min: 1, max: 9 }),
    external_reference: fc.constantFrom(null, 'a', 'b'),
    source: fc.constantFrom(...OUTCOME_SOURCES),
  });
  fc.assert(
    fc.property(fc.array(any, { maxLength: 12 }), (given) => {
      let outcomes: Outcome[] = [];
      for (const each of given) {
        const before = summarizeOutcomes(outcomes);
        const recorded = record(outcomes, { ...each, currency: 'EUR' });
        const after = summarizeOutcomes(recorded.outcomes);
        if (recorded.outcomes === outcomes) expect(after).toEqual(before);
        else expect(record(recorded.outcomes, { ...each, currency: 'EUR' }).said).toBe('repeat');
        outcomes = recorded.outcomes;
        expect(after.refunded_minor).toBeGreaterThanOrEqual(0);
        expect(after.refunded_minor).toBeLessThanOrEqual(after.executed_minor);
        const rail = outcomes.findLast((one) => one.source === B && !one.type.endsWith('REFUNDED'));
        if (rail !== undefined) {
          expect(after.settled_by_rail).toBe(true);
          expect(after.executed_minor).toBe(rail.type === 'SPEND_EXECUTED' ? rail.amount_minor : 0);
        }
        const settled = { SPEND_FAILED: 'FAILED', SPEND_CANCELLED: 'CANCELLED' } as Record<string, string>;
        const word = rail ?? outcomes.find((one) => !one.type.endsWith('REFUNDED'));
        expect(after.outcome_state).toBe(
          word === undefined
            ? 'NONE'
            : (settled[word.type] ??
                (after.refunded_minor === 0
                  ? 'EXECUTED'
                  : after.refunded_minor < after.executed_minor
                    ? 'PARTIALLY_REFUNDED'
                    : 'REFUNDED')),
        );
        for (const source of OUTCOME_SOURCES) {
          const settlements = outcomes.filter(
            (one) => one.source === source && !one.type.endsWith('REFUNDED'),
          );
          if (source === A) expect(settlements.length).toBeLessThanOrEqual(1);
          const amounts = settlements.map((one) => one.amount_minor as number);
          expect(amounts).toEqual(amounts.toSorted((a, b) => a - b));
          expect(new Set(settlements.map((one) => one.type)).size).toBeLessThanOrEqual(1);
        }
      }
    }),
    { numRuns: 1_000 },
  );
});

test('a source may make a bounded number of reports, and one source that used them up does not silence the other', () => {
  const executed = { ...report('E1000000', A) } as Outcome;
  const refunds = Array.from({ length: MAX_REPORTS - 1 }, (_, i) => ({
    ...report('P1', A),
    external_reference: String(i),
  })) as Outcome[];
  const all = [executed, ...refunds];
  expect(judgeOutcome(all.slice(0, -1), report('P1', A))).toMatchObject({ ok: true });
  expect(judgeOutcome(all, report('P1', A))).toMatchObject({ ok: false });
  expect(judgeOutcome(all, report('E1000000', B))).toMatchObject({ ok: true, flags: [] });
  expect(judgeOutcome(all, report('F', B))).toMatchObject({ ok: true, flags: ['CONTRADICTS_CLIENT'] });
});
