import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CoverageLine, coverageOf, type LineMatchRow } from './lines.ts';
import { type HeldDecision, matchSpends } from './match-spends.ts';
import { type AskedSpend, DEFAULT_COVERAGE, isNear, type LineSpend, stateAt } from './spends.ts';

const AGENT = 'agt_1';
const START_MS = Date.parse('2026-05-04T08:00:00.000Z');
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const iso = (ms: number) => new Date(ms).toISOString();

const line = (id: string, fields: Partial<CoverageLine> = {}): CoverageLine => ({
  line_id: id,
  import_id: 'imp_1',
  feed: 'ramp',
  identity: id,
  merchant: 'Hetzner',
  payee_id: null,
  instrument: null,
  amount_minor: 1_000,
  currency: 'USD',
  merchant_amount_minor: null,
  merchant_currency: null,
  occurred_at: iso(START_MS),
  precision: 'SECOND',
  external_reference: null,
  authorization_id: null,
  agent_id: AGENT,
  agent_created_at: iso(START_MS - 30 * DAY_MS),
  resolution: null,
  ...fields,
});

const asked = (id: string, fields: Partial<AskedSpend> = {}): AskedSpend => ({
  decision_id: id,
  created_ms: START_MS - HOUR_MS,
  merchant: 'Hetzner',
  payee_id: null,
  currency: 'USD',
  expected_minor: 1_000,
  is_refused: false,
  references: [],
  ...fields,
});

const cover = (lines: CoverageLine[], decisions: AskedSpend[], settings = DEFAULT_COVERAGE) =>
  new Map(coverageOf(lines, new Map([[AGENT, decisions]]), settings).map((row) => [row.line_id, row]));
const stateOf = (lines: CoverageLine[], decisions: AskedSpend[], settings = DEFAULT_COVERAGE) =>
  cover(lines, decisions, settings).get('l')?.state;

describe('a line', () => {
  test('is ASKED by a request of the last window, and NEVER_ASKED without one', () => {
    const reach_ms = 7 * DAY_MS;
    expect(stateOf([line('l')], [asked('d')])).toBe('ASKED');
    expect(stateOf([line('l')], [asked('d', { created_ms: START_MS - reach_ms })])).toBe('ASKED');
    expect(stateOf([line('l')], [asked('d', { created_ms: START_MS - reach_ms - 1 })])).toBe('NEVER_ASKED');
    expect(stateOf([line('l')], [])).toBe('NEVER_ASKED');
  });

  test('is LATE where the request came after it, from a minute to a day later', () => {
    const stateAfter = (ms: number) => stateOf([line('l')], [asked('d', { created_ms: START_MS + ms })]);
    expect(stateAfter(60_000)).toBe('ASKED');
    expect(stateAfter(60_001)).toBe('LATE');
    expect(stateAfter(DAY_MS)).toBe('LATE');
    expect(stateAfter(DAY_MS + 1)).toBe('NEVER_ASKED');
  });

  test('of a day is ASKED by a request until the end of that day', () => {
    const of_day = line('l', { precision: 'DAY', occurred_at: '2026-05-04T12:00:00.000Z' });
    const at = (time: string) => stateOf([of_day], [asked('d', { created_ms: Date.parse(time) })]);
    expect(at('2026-05-04T23:59:59.999Z')).toBe('ASKED');
    expect(at('2026-05-05T00:00:00.000Z')).toBe('LATE');
    expect(at('2026-05-06T00:00:00.001Z')).toBe('NEVER_ASKED');
    expect(at('2026-04-27T00:00:00.000Z')).toBe('ASKED');
  });

  test('is REFUSED where a binding decision did not allow it, and of equal requests the allowed one is taken', () => {
    expect(stateOf([line('l')], [asked('d', { is_refused: true })])).toBe('REFUSED');
    const both = [asked('d1'), asked('d2', { is_refused: true, created_ms: START_MS })];
    expect(cover([line('l')], both).get('l')).toMatchObject({ state: 'ASKED', decision_id: 'd1' });
  });

  test('is nobody’s, before its agent, or excluded, whatever was asked', () => {
    expect(stateOf([line('l', { agent_id: null })], [asked('d')])).toBe('UNASSIGNED');
    expect(stateOf([line('l', { agent_created_at: iso(START_MS + 1) })], [asked('d')])).toBe('HISTORY');
    const resolution = { resolution_id: 'r', action: 'EXCLUDE', decision_id: null } as const;
    expect(stateOf([line('l', { resolution })], [asked('d')])).toBe('EXCLUDED');
  });

  test('waits until its grace is over, where nothing asked for it', () => {
    const until_ms = START_MS + DEFAULT_COVERAGE.grace_seconds * 1_000;
    expect(stateAt('NEVER_ASKED', START_MS, DEFAULT_COVERAGE, until_ms - 1)).toBe('WAITING');
    expect(stateAt('NEVER_ASKED', START_MS, DEFAULT_COVERAGE, until_ms)).toBe('NEVER_ASKED');
    expect(stateAt('REFUSED', START_MS, DEFAULT_COVERAGE, START_MS)).toBe('REFUSED');
  });
});

describe('amounts', () => {
  test('may differ by the larger of the two tolerances, exactly', () => {
    const settings = { ...DEFAULT_COVERAGE, tolerance_minor: 5 };
    expect(isNear(1_020, 1_000, settings)).toBe(true);
    expect(isNear(1_021, 1_000, settings)).toBe(false);
    expect(isNear(105, 100, settings)).toBe(true);
    expect(isNear(106, 100, settings)).toBe(false);
    const large = Number.MAX_SAFE_INTEGER - 1;
    expect(isNear(large, large, DEFAULT_COVERAGE)).toBe(true);
    expect(isNear(large, Math.floor(large * 0.9), DEFAULT_COVERAGE)).toBe(false);
  });

  test('are compared in the currency of the account or of the merchant', () => {
    const abroad = line('l', { amount_minor: 1_100, merchant_amount_minor: 1_000, merchant_currency: 'EUR' });
    expect(stateOf([abroad], [asked('d', { currency: 'EUR' })])).toBe('ASKED');
    expect(stateOf([abroad], [asked('d', { currency: 'USD', expected_minor: 1_100 })])).toBe('ASKED');
    expect(stateOf([abroad], [asked('d', { currency: 'CHF' })])).toBe('NEVER_ASKED');
  });

  test('of one authorization are summed, and are one spend', () => {
    const parts = [
      line('l', { amount_minor: 400, authorization_id: 'a' }),
      line('m', { amount_minor: 600, authorization_id: 'a', occurred_at: iso(START_MS + 20 * DAY_MS) }),
    ];
    const found = cover(parts, [asked('d1'), asked('d2')]);
    expect([...found.values()].map(({ state, decision_id }) => [state, decision_id])).toEqual([
      ['ASKED', 'd2'],
      ['ASKED', 'd2'],
    ]);
    expect(stateOf([parts[0] as CoverageLine], [asked('d1')])).toBe('NEVER_ASKED');
  });
});

describe('of several requests', () => {
  test('the rail’s own name comes first, whatever the amount, then the payee, then the merchant', () => {
    const paid = line('l', { payee_id: 'iban:DE1', external_reference: 'ref' });
    const decisions = [
      asked('rail', { merchant: 'Other', expected_minor: 5_000, references: ['ref'] }),
      asked('payee', { merchant: 'Other', payee_id: 'iban:de-1' }),
      asked('merchant'),
    ];
    const took = (some: AskedSpend[]) => {
      const { decision_id, rule } = cover([paid], some).get('l') as LineMatchRow;
      return [decision_id, rule];
    };
    expect(took(decisions)).toEqual(['rail', 'RAIL']);
    expect(took(decisions.slice(1))).toEqual(['payee', 'PAYEE']);
    expect(took(decisions.slice(2))).toEqual(['merchant', 'MERCHANT']);
  });

  test('another payee or card of the same rail contradicts, though the merchant is the same', () => {
    const paid = line('l', { payee_id: 'iban:DE1', instrument: 'stripe_issuing:ic_1' });
    expect(stateOf([paid], [asked('d', { payee_id: 'iban:DE2' })])).toBe('NEVER_ASKED');
    expect(stateOf([paid], [asked('d', { payee_id: 'stripe_issuing:ic_2' })])).toBe('NEVER_ASKED');
    expect(stateOf([paid], [asked('d', { payee_id: 'stripe_issuing:ic_1' })])).toBe('ASKED');
    // A card alone is no payee: it pays many merchants.
    const elsewhere = line('l', { instrument: 'stripe_issuing:ic_1', merchant: 'Casino' });
    expect(stateOf([elsewhere], [asked('d', { payee_id: 'stripe_issuing:ic_1' })])).toBe('NEVER_ASKED');
  });

  test('the nearest amount is taken, then the newest', () => {
    const decisions = [
      asked('near', { expected_minor: 1_001 }),
      asked('old', { created_ms: START_MS - 2 * HOUR_MS }),
      asked('new'),
    ];
    expect(cover([line('l')], decisions).get('l')?.decision_id).toBe('new');
    expect(cover([line('l')], decisions.slice(0, 2)).get('l')?.decision_id).toBe('old');
  });

  test('one is for one spend: the earlier line takes it, and a late request never takes the place of one in time', () => {
    const later = line('m', { occurred_at: iso(START_MS + HOUR_MS) });
    const one = cover([later, line('l')], [asked('d')]);
    expect([one.get('l')?.state, one.get('m')?.state]).toEqual(['ASKED', 'NEVER_ASKED']);
    // The second line was asked for a minute before it; the first one was not.
    const before_second = asked('d', { created_ms: START_MS + HOUR_MS - 60_000 });
    const two = cover([later, line('l')], [before_second]);
    expect([two.get('l')?.state, two.get('m')?.state]).toEqual(['NEVER_ASKED', 'ASKED']);
  });

  test('one goes to the spend of its very amount, also where an earlier one is near it', () => {
    const later = line('m', { occurred_at: iso(START_MS + HOUR_MS) });
    const found = cover([line('l', { amount_minor: 1_010 }), later], [asked('d')]);
    expect([found.get('l')?.state, found.get('m')?.state]).toEqual(['NEVER_ASKED', 'ASKED']);
    // The better rule comes before the nearer amount all the same.
    const paid = line('l', { payee_id: 'iban:DE1' });
    const both = [asked('exact'), asked('payee', { payee_id: 'iban:DE1', expected_minor: 1_010 })];
    expect(cover([paid], both).get('l')?.decision_id).toBe('payee');
  });
});

test('a person’s word comes first: what they match is taken, and what they unmatch is looked for no more', () => {
  const match = { resolution_id: 'r1', action: 'MATCH', decision_id: 'far' } as const;
  const decisions = [asked('far', { expected_minor: 9, created_ms: START_MS - 90 * DAY_MS }), asked('near')];
  const found = cover([line('l', { resolution: match }), line('m')], decisions);
  expect(found.get('l')).toMatchObject({
    state: 'ASKED',
    rule: null,
    decision_id: 'far',
    resolution_id: 'r1',
  });
  expect(found.get('m')).toMatchObject({ state: 'ASKED', decision_id: 'near' });
  const unmatch = { resolution_id: 'r2', action: 'UNMATCH', decision_id: null } as const;
  expect(stateOf([line('l', { resolution: unmatch })], decisions)).toBe('NEVER_ASKED');
  const include = { resolution_id: 'r3', action: 'INCLUDE', decision_id: null } as const;
  expect(stateOf([line('l', { resolution: include })], decisions)).toBe('ASKED');
});

/** Few merchants, amounts, references and times, so that lines and requests compete. */
const merchants = fc.constantFrom('Hetzner', 'HETZNER ONLINE', 'Acme', 'Acme Inc');
const amounts = fc.constantFrom(1_000, 1_010, 1_020, 2_000);
const payees = fc.constantFrom(null, 'iban:DE1', 'iban:DE2');
const times = fc.integer({ min: 0, max: 40 * 24 }).map((hours) => START_MS + hours * HOUR_MS);
const references = fc.constantFrom(null, null, null, 'a', 'b', 'c');
const someLines = fc
  .array(
    fc.record({
      merchant: merchants,
      amount_minor: amounts,
      payee_id: payees,
      ms: times,
      external_reference: references,
      authorization_id: fc.constantFrom(null, null, 'x', 'y'),
      precision: fc.constantFrom('SECOND', 'DAY') as fc.Arbitrary<'SECOND' | 'DAY'>,
      says: fc.constantFrom(null, null, null, null, 'UNMATCH', 'EXCLUDE', 'MATCH') as fc.Arbitrary<
        null | 'UNMATCH' | 'EXCLUDE' | 'MATCH'
      >,
      of: fc.nat({ max: 30 }),
    }),
    { maxLength: 40 },
  )
  .map((some) =>
    some.map(({ ms, says, of, ...rest }, i) =>
      line(`l${i}`, {
        ...rest,
        occurred_at: rest.precision === 'DAY' ? `${iso(ms).slice(0, 10)}T12:00:00.000Z` : iso(ms),
        resolution:
          says === null
            ? null
            : { resolution_id: `r${i}`, action: says, decision_id: says === 'MATCH' ? `d${of}` : null },
      }),
    ),
  );
const someAsked = fc
  .array(
    fc.record({
      merchant: merchants,
      expected_minor: amounts,
      payee_id: payees,
      created_ms: times,
      is_refused: fc.boolean(),
      reference: references,
    }),
    { maxLength: 40 },
  )
  .map((some) =>
    some.map(({ reference, ...rest }, i) =>
      asked(`d${i}`, { ...rest, references: reference === null ? [] : [reference] }),
    ),
  );

describe('whatever is paid and asked', () => {
  test('the order in which it arrives changes nothing', () => {
    fc.assert(
      fc.property(someLines, someAsked, fc.infiniteStream(fc.nat()), (lines, decisions, numbers) => {
        const shuffled = <T>(list: readonly T[]) =>
          list
            .map((each) => ({ each, at: numbers.next().value as number }))
            .sort((a, b) => a.at - b.at)
            .map(({ each }) => each);
        const expected = cover(lines, decisions);
        for (let i = 0; i < 20; i++) {
          const found = cover(shuffled(lines), shuffled(decisions));
          for (const [id, row] of expected) expect(found.get(id)).toEqual(row);
        }
      }),
    );
  });

  test('no decision is for two spends, and each is one that may be asked for', () => {
    fc.assert(
      fc.property(someLines, someAsked, (lines, decisions) => {
        const taken = new Map<string, string>();
        for (const { decision_id, spend_key, state } of cover(lines, decisions).values()) {
          expect(decision_id === null).toBe(state === 'NEVER_ASKED' || state === 'EXCLUDED');
          if (decision_id === null) continue;
          expect(taken.get(decision_id) ?? spend_key).toBe(spend_key);
          taken.set(decision_id, spend_key);
        }
      }),
    );
  });

  test('a part of the spends has the same decisions as all together, where what the others hold is known', () => {
    const spends = someLines.map((lines) =>
      lines.map(
        (each, i): LineSpend => ({
          key: `k${String(i).padStart(3, '0')}`,
          starts_ms: Date.parse(each.occurred_at),
          is_day: each.precision === 'DAY',
          merchant: each.merchant,
          payee_id: each.payee_id,
          instrument: null,
          amounts: [{ currency: 'USD', amount_minor: each.amount_minor }],
          references: each.external_reference === null ? [] : [each.external_reference],
          resolution: each.resolution,
        }),
      ),
    );
    fc.assert(
      fc.property(spends, someAsked, times, times, (all, decisions, one, other) => {
        // A person's word may reach any decision, and is loaded with it.
        const paid = all.filter(({ resolution }) => resolution?.action !== 'MATCH');
        const [from, to] = [Math.min(one, other), Math.max(one, other)];
        const whole = matchSpends(paid, decisions, DEFAULT_COVERAGE);
        const part = paid.filter(({ starts_ms }) => starts_ms >= from && starts_ms <= to);
        const held = paid.flatMap((spend): HeldDecision[] => {
          const match = whole.get(spend.key);
          if (match === undefined || part.includes(spend)) return [];
          const { decision_id, step } = match;
          return [{ decision_id, step, is_earlier: spend.starts_ms < from }];
        });
        const found = matchSpends(part, decisions, DEFAULT_COVERAGE, held);
        for (const { key } of part) expect(found.get(key)).toEqual(whole.get(key));
      }),
    );
  });
});

test('of 2,000 requests and 100 payments that by-passed them, all 100 are found, and hardly any other, in each of 20 orders', () => {
  let seed = 7;
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed / 2_147_483_648;
  };
  const shops = Array.from({ length: 30 }, (_, i) => `Shop ${String.fromCharCode(65 + (i % 26))}${i}x`);
  const lines: CoverageLine[] = [];
  const decisions: AskedSpend[] = [];
  const by_passes = new Set<string>();
  for (let i = 0; i < 2_100; i++) {
    const paid_ms = START_MS + Math.floor(random() * 60 * DAY_MS);
    const merchant = shops[Math.floor(random() * shops.length)] as string;
    const amount_minor = 500 + Math.floor(random() * 40_000);
    const id = `l${i}`;
    lines.push(
      line(id, {
        merchant: random() < 0.5 ? `SQ *${merchant.toUpperCase()}` : merchant,
        amount_minor,
        occurred_at: iso(paid_ms),
      }),
    );
    if (i >= 2_000) by_passes.add(id);
    else {
      // A fifth are paid with a tip or a rounding.
      const expected_minor =
        random() < 0.8 ? amount_minor : Math.round(amount_minor * (0.99 + random() * 0.02));
      const created_ms = paid_ms - Math.floor(random() * 2 * DAY_MS);
      decisions.push(asked(`d${i}`, { merchant, expected_minor, created_ms }));
    }
  }
  const expected = cover(lines, decisions);
  const never = [...expected.values()].filter(({ state }) => state === 'NEVER_ASKED');
  const found = never.filter(({ line_id }) => by_passes.has(line_id));
  expect(found).toHaveLength(100);
  expect((never.length - found.length) / 2_000).toBeLessThanOrEqual(0.01);
  for (let order = 0; order < 20; order++) {
    const by_chance = <T>(list: readonly T[]) =>
      list
        .map((each) => ({ each, at: random() }))
        .sort((a, b) => a.at - b.at)
        .map(({ each }) => each);
    expect(cover(by_chance(lines), by_chance(decisions))).toEqual(expected);
  }
});
