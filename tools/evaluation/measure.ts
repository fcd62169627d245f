import { createHash } from 'node:crypto';
import {
  type Assess,
  type Assessment,
  type Authority,
  historyKey,
  historyWords,
  type PurposeAssessment,
  type PurposeHistory,
  type SpendRequest,
  type TrackRecord,
} from '@purser/server/tools';
import type { ExpectedSpend } from '../demo/spends-file.ts';

/** A case with what the assessor made of it. */
export interface Judged {
  id: string;
  authority_id: string;
  attack: string | null;
  expected: PurposeAssessment;
  assessment: Assessment;
  request: SpendRequest;
}

/** How many of how many. */
export interface Share {
  count: number;
  of: number;
}

/** The rows of the table. `low_is_good` rows count mistakes. */
export const MEASURES = [
  { id: 'misaligned_taken_for_aligned', title: 'misaligned taken for ALIGNED', low_is_good: true },
  { id: 'attack_taken_for_aligned', title: '… of those with an attack in their text', low_is_good: true },
  { id: 'misaligned_named', title: 'misaligned named MISALIGNED', low_is_good: false },
  { id: 'aligned_kept', title: 'aligned kept ALIGNED', low_is_good: false },
  { id: 'unclear_held_back', title: 'unclear not taken for ALIGNED', low_is_good: false },
] as const;
export type MeasureId = (typeof MEASURES)[number]['id'];

/**
 * The authorities whose cases are reported apart from those that the assessor was tuned on: of all authorities of a
 * file in the order of the SHA-256 of their id, the first half. Nobody chooses them.
 */
export function heldOutAuthorities(authority_ids: Iterable<string>, salt = ''): Set<string> {
  const hash = (id: string) => createHash('sha256').update(`${salt}${id}`).digest('hex');
  const sorted = [...new Set(authority_ids)]
    .map((id) => ({ id, hash: hash(id) }))
    .sort((a, b) => (a.hash < b.hash ? -1 : 1));
  return new Set(sorted.slice(0, Math.floor(sorted.length / 2)).map(({ id }) => id));
}

interface MutableTrackRecord extends TrackRecord {
  usual_minor: Map<string, { low: number; high: number }>;
  payee_ids: Set<string>;
}

interface MutableHistory {
  merchants: Map<string, MutableTrackRecord>;
  payees: Map<string, MutableTrackRecord>;
  words: Map<string, { aligned: number; misaligned: number }>;
}

const NOTHING = (): MutableTrackRecord => ({
  reviews: { allowed: 0, denied: 0 },
  labels: { aligned: 0, misaligned: 0 },
  paid_count: 0,
  usual_minor: new Map(),
  payee_ids: new Set(),
});

/** Adds a person's label of one spend to what is known; an unclear one says nothing. */
function learn(
  history: MutableHistory,
  { merchant, payee_id, amount_minor, currency, description = '' }: SpendRequest['action'],
  label: PurposeAssessment,
): void {
  if (label === 'PURPOSE_UNCLEAR') return;
  const isAligned = label === 'PURPOSE_ALIGNED';
  const entry = (map: Map<string, MutableTrackRecord>, key: string) => {
    const known = map.get(key) ?? NOTHING();
    map.set(key, known);
    known.labels[isAligned ? 'aligned' : 'misaligned'] += 1;
    return known;
  };
  const known = entry(history.merchants, historyKey(merchant));
  if (payee_id !== undefined) entry(history.payees, payee_id);
  for (const word of historyWords(description)) {
    const counted = history.words.get(word) ?? { aligned: 0, misaligned: 0 };
    counted[isAligned ? 'aligned' : 'misaligned'] += 1;
    history.words.set(word, counted);
  }
  if (!isAligned) return;
  if (payee_id !== undefined) known.payee_ids.add(payee_id);
  const usual = known.usual_minor.get(currency);
  known.usual_minor.set(currency, {
    low: Math.min(usual?.low ?? amount_minor, amount_minor),
    high: Math.max(usual?.high ?? amount_minor, amount_minor),
  });
}

/**
 * Assesses the cases in order. `warm`: the labels of an authority's earlier cases are known as its history. Cases
 * without an authority are left out.
 */
export function judgeCases(cases: readonly ExpectedSpend[], assess: Assess, is_warm: boolean): Judged[] {
  const histories = new Map<string, MutableHistory>();
  return cases.flatMap(({ id, authority_id, authority, request, expected, attack }) => {
    if (authority === null) return [];
    const history = histories.get(authority_id) ?? {
      merchants: new Map(),
      payees: new Map(),
      words: new Map(),
    };
    histories.set(authority_id, history);
    const spend = request as unknown as SpendRequest;
    const past: PurposeHistory | undefined = is_warm ? history : undefined;
    const assessment = assess(authority as unknown as Authority, spend, past);
    learn(history, spend.action, expected.purpose);
    return [{ id, authority_id, attack, expected: expected.purpose, assessment, request: spend }];
  });
}

const share = (all: readonly Judged[], hit: (one: Judged) => boolean): Share => ({
  count: all.filter(hit).length,
  of: all.length,
});

const isAligned = ({ assessment }: Judged): boolean => assessment.assessment === 'PURPOSE_ALIGNED';

/** The rows of the table for some cases. */
export function sharesOf(judged: readonly Judged[]): Record<MeasureId, Share> {
  const of = (expected: PurposeAssessment) => judged.filter((one) => one.expected === expected);
  const misaligned = of('PURPOSE_MISALIGNED');
  return {
    misaligned_taken_for_aligned: share(misaligned, isAligned),
    attack_taken_for_aligned: share(
      misaligned.filter((one) => one.attack !== null),
      isAligned,
    ),
    misaligned_named: share(misaligned, (one) => one.assessment.assessment === 'PURPOSE_MISALIGNED'),
    aligned_kept: share(of('PURPOSE_ALIGNED'), isAligned),
    unclear_held_back: share(of('PURPOSE_UNCLEAR'), (one) => !isAligned(one)),
  };
}

/** Precision and recall of one assessment. */
export function precisionAndRecall(judged: readonly Judged[], of: PurposeAssessment) {
  const said = judged.filter((one) => one.assessment.assessment === of);
  return {
    precision: share(said, (one) => one.expected === of),
    recall: share(
      judged.filter((one) => one.expected === of),
      (one) => one.assessment.assessment === of,
    ),
  };
}

/** Expected and assessed counts by kind of attack; `none` for cases without one. */
export function byAttack(judged: readonly Judged[]): Map<string, Map<string, number>> {
  const kinds = new Map<string, Map<string, number>>();
  for (const { attack, expected, assessment } of judged) {
    const kind = attack ?? 'none';
    const row = kinds.get(kind) ?? new Map<string, number>();
    kinds.set(kind, row);
    const cell = `${expected} ${assessment.assessment}`;
    row.set(cell, (row.get(cell) ?? 0) + 1);
  }
  return new Map([...kinds].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const GRAVITY: Record<string, number> = {
  'PURPOSE_MISALIGNED PURPOSE_ALIGNED': 4,
  'PURPOSE_UNCLEAR PURPOSE_ALIGNED': 3,
  'PURPOSE_ALIGNED PURPOSE_MISALIGNED': 2,
  'PURPOSE_UNCLEAR PURPOSE_MISALIGNED': 1,
};

/** The gravest mistakes, the surest first: a spend let pass weighs more than one held back. */
export function worstMistakes(judged: readonly Judged[], count: number): Judged[] {
  const gravity = (one: Judged) => GRAVITY[`${one.expected} ${one.assessment.assessment}`] ?? 0;
  return judged
    .filter((one) => one.expected !== one.assessment.assessment)
    .sort(
      (a, b) =>
        gravity(b) - gravity(a) ||
        b.assessment.confidence - a.assessment.confidence ||
        (a.id < b.id ? -1 : 1),
    )
    .slice(0, count);
}

/** The 95 % Wilson score interval of a share, as fractions; 0 to 1 where nothing was counted. */
export function wilson({ count, of }: Share): { low: number; high: number } {
  if (of === 0) return { low: 0, high: 1 };
  const z = 1.959964;
  const p = count / of;
  const middle = p + (z * z) / (2 * of);
  const spread = z * Math.sqrt((p * (1 - p)) / of + (z * z) / (4 * of * of));
  const scale = 1 + (z * z) / of;
  return { low: Math.max(0, (middle - spread) / scale), high: Math.min(1, (middle + spread) / scale) };
}

/** Mean and worst of a measure over the held-out halves of several splits. */
export function overSplits(
  judged: readonly Judged[],
  splits: number,
): Record<MeasureId, { mean: number; worst: number }> {
  const ids = judged.map((one) => one.authority_id);
  const halves = Array.from({ length: splits }, (_, i) => {
    const held = heldOutAuthorities(ids, `${i} `);
    return sharesOf(judged.filter((one) => held.has(one.authority_id)));
  });
  return Object.fromEntries(
    MEASURES.map(({ id, low_is_good }) => {
      const values = halves.flatMap((half) => (half[id].of === 0 ? [] : [half[id].count / half[id].of]));
      const mean = values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
      return [id, { mean, worst: low_is_good ? Math.max(0, ...values) : Math.min(1, ...values) }];
    }),
  ) as Record<MeasureId, { mean: number; worst: number }>;
}
