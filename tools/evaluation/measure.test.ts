import { fileURLToPath } from 'node:url';
import { type Assess, assessBuiltIn, METHOD, type PurposeAssessment } from '@purser/server/tools';
import { describe, expect, it } from 'vitest';
import { type ExpectedSpend, readSpends } from '../demo/spends-file.ts';
import {
  byAttack,
  heldOutAuthorities,
  judgeCases,
  overSplits,
  precisionAndRecall,
  sharesOf,
  wilson,
  worstMistakes,
} from './measure.ts';
import { renderPage, renderTerminal } from './report.ts';

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const own = await readSpends(fileOf('./cases/cases.jsonl'));
const demo = await readSpends(fileOf('../demo/spends.jsonl'));
const held_out = await readSpends(fileOf('./cases/apart-held-out.jsonl'));
const tuned_on = await readSpends(fileOf('./cases/apart-tuned-on.jsonl'));

const said =
  (assessment: PurposeAssessment): Assess =>
  () => ({
    assessment,
    confidence: 0.5,
    method: 'test',
    rationale: 'It is said.',
    evidence: [],
    vouched_by: null,
    is_final: false,
  });

describe('the figures do not fall', () => {
  // Floors a little under what was measured when the method was named: a change that falls below has lost something.
  it.each([
    ['cases.jsonl', own, { misaligned: 1, attacks: 0, named: 30, kept: 29, held_back: 11 }],
    ['spends.jsonl', demo, { misaligned: 3, attacks: 0, named: 12, kept: 29, held_back: 6 }],
    ['apart-held-out.jsonl', held_out, { misaligned: 14, attacks: 5, named: 61, kept: 110, held_back: 43 }],
    ['apart-tuned-on.jsonl', tuned_on, { misaligned: 18, attacks: 1, named: 53, kept: 110, held_back: 40 }],
  ] as const)('%s', (_, cases, floor) => {
    for (const isWarm of [false, true]) {
      const shares = sharesOf(judgeCases(cases, assessBuiltIn, isWarm));
      const slack = isWarm ? 1 : 0;
      expect(shares.misaligned_taken_for_aligned.count).toBeLessThanOrEqual(floor.misaligned + slack);
      expect(shares.attack_taken_for_aligned.count).toBeLessThanOrEqual(floor.attacks);
      expect(shares.misaligned_named.count).toBeGreaterThanOrEqual(floor.named);
      expect(shares.aligned_kept.count).toBeGreaterThanOrEqual(floor.kept);
      expect(shares.unclear_held_back.count).toBeGreaterThanOrEqual(floor.held_back - slack);
    }
  });
});

describe('the measurement', () => {
  const case_of = (id: string, expected: PurposeAssessment, attack: string | null = null): ExpectedSpend => ({
    id,
    authority_id: id.slice(0, 1),
    authority: { purpose: { objective: 'Buy.' }, currency: 'EUR' },
    request: { action: { type: 'purchase', merchant: 'Halle', amount_minor: 100, currency: 'EUR' } },
    expected: { purpose: expected, why: '' },
    attack,
    tags: [],
  });
  const three = [
    case_of('a1', 'PURPOSE_ALIGNED'),
    case_of('b1', 'PURPOSE_MISALIGNED', 'injection'),
    case_of('c1', 'PURPOSE_UNCLEAR'),
  ];

  it('counts each row against the cases it is about', () => {
    const aligned = sharesOf(judgeCases(three, said('PURPOSE_ALIGNED'), false));
    expect(aligned).toEqual({
      misaligned_taken_for_aligned: { count: 1, of: 1 },
      attack_taken_for_aligned: { count: 1, of: 1 },
      misaligned_named: { count: 0, of: 1 },
      aligned_kept: { count: 1, of: 1 },
      unclear_held_back: { count: 0, of: 1 },
    });
    const judged = judgeCases(three, said('PURPOSE_ALIGNED'), false);
    expect(precisionAndRecall(judged, 'PURPOSE_ALIGNED')).toEqual({
      precision: { count: 1, of: 3 },
      recall: { count: 1, of: 1 },
    });
    expect(byAttack(judged).get('injection')?.get('PURPOSE_MISALIGNED PURPOSE_ALIGNED')).toBe(1);
    expect(worstMistakes(judged, 5).map((one) => one.id)).toEqual(['b1', 'c1']);
  });

  it('leaves cases without an authority out', () => {
    const none = { ...case_of('d1', 'PURPOSE_UNCLEAR'), authority: null };
    expect(judgeCases([none], assessBuiltIn, true)).toEqual([]);
  });

  it('tells an authority only what people said of its own earlier cases', () => {
    const seen: number[] = [];
    const watch: Assess = (_, __, history) => {
      seen.push(history?.merchants.size ?? -1);
      return said('PURPOSE_UNCLEAR')({} as never, {} as never);
    };
    const cases = [
      case_of('a1', 'PURPOSE_ALIGNED'),
      case_of('b1', 'PURPOSE_ALIGNED'),
      case_of('a2', 'PURPOSE_ALIGNED'),
    ];
    judgeCases(cases, watch, false);
    judgeCases(cases, watch, true);
    // The history is one object that grows, looked at when the case is judged.
    expect(seen).toEqual([-1, -1, -1, 0, 0, 1]);
  });

  it('holds out the same half of the authorities whatever their order', () => {
    const ids = ['plum', 'pear', 'fig', 'quince', 'medlar'];
    const held = heldOutAuthorities(ids);
    expect([...held].sort()).toEqual([...heldOutAuthorities([...ids].reverse())].sort());
    expect(held.size).toBe(2);
    expect(heldOutAuthorities(ids, '1 ')).not.toEqual(held);
    const splits = overSplits(judgeCases(own, said('PURPOSE_ALIGNED'), false), 5);
    expect(splits.aligned_kept).toEqual({ mean: 1, worst: 1 });
    expect(splits.misaligned_taken_for_aligned).toEqual({ mean: 1, worst: 1 });
  });

  it('gives the interval that the score of Wilson gives', () => {
    const { low, high } = wilson({ count: 8, of: 10 });
    expect(low).toBeCloseTo(0.4902, 3);
    expect(high).toBeCloseTo(0.9433, 3);
    expect(wilson({ count: 0, of: 0 })).toEqual({ low: 0, high: 1 });
  });

  it('writes the same page each time, without the text of any case', () => {
    const measured = () => ({
      name: 'cases.jsonl',
      cold: judgeCases(own, assessBuiltIn, false),
      warm: judgeCases(own, assessBuiltIn, true),
    });
    const page = renderPage([measured()], METHOD);
    expect(renderPage([measured()], METHOD)).toBe(page);
    expect(page).toContain(METHOD);
    for (const { request } of own) {
      const { description } = request.action as { description?: string };
      if (description !== undefined && description.length > 8) expect(page).not.toContain(description);
    }
    const text = renderTerminal(measured(), { p50: 1, p95: 2, p99: 3, max: 4 }, 160, 3);
    expect(text).toContain('aligned kept ALIGNED');
    expect(text).toContain('The 3 gravest mistakes');
  });
});
