import {
  type Assess,
  type Authority,
  NO_FACTS,
  type PurposeAssessment,
  type SpendFacts,
  type SpendRequest,
} from '@purser/server/tools';
import type { ExpectedSpend } from '../demo/spends-file.ts';
import { harmless, stuffings } from './additions.ts';
import { confirmed, edited, factsAfter, later, seasonsOf } from './histories.ts';
import type { Judged, Share } from './measure.ts';

const RANK: Record<PurposeAssessment, number> = {
  PURPOSE_MISALIGNED: 0,
  PURPOSE_UNCLEAR: 1,
  PURPOSE_ALIGNED: 2,
};

/** Counts by name, and over all of them. */
export interface Tally {
  total: Share;
  by_name: Map<string, Share>;
}

/** What stuffing and harmless words did. */
export interface Additions {
  /** Spends that are not right and became ALIGNED by at least one stuffing, of those that were not ALIGNED without. */
  raised: Share;
  /** Stuffings by which an assessment became better at all, of all stuffings of all spends. */
  better: Tally;
  /** Additions by which a right spend was no longer ALIGNED, of all additions to those that were. */
  lowered: Tally;
}

/** What became of later spends, after half of the cases were seen in SHADOW and its suggestions confirmed. */
export interface Warm {
  /** Right spends at confirmed merchants that are ALIGNED. */
  kept: Share;
  /** Misaligned spends that are ALIGNED. */
  slipped: Share;
  /** Right spends of any merchant that are ALIGNED. */
  kept_anywhere: Share;
  /** Spends that are assessed in another way after an edit that has to do with none of them. */
  changed_by_edit: Share;
}

const count = (share: Share, hit: boolean): void => {
  share.of += 1;
  if (hit) share.count += 1;
};
const emptyShare = (): Share => ({ count: 0, of: 0 });

function countNamed(tally: Tally, name: string, hit: boolean): void {
  const share = tally.by_name.get(name) ?? emptyShare();
  tally.by_name.set(name, share);
  count(share, hit);
  count(tally.total, hit);
}

/** Adds stuffing and harmless words to the cases, with the directory and labels that a SHADOW leaves. */
export function measureAdditions(cases: readonly ExpectedSpend[], assess: Assess): Additions {
  const found: Additions = {
    raised: emptyShare(),
    better: { total: emptyShare(), by_name: new Map() },
    lowered: { total: emptyShare(), by_name: new Map() },
  };
  for (const { authority, all, seen } of seasonsOf(cases)) {
    for (const facts of [NO_FACTS, factsAfter(seen)]) {
      const rankOf = (request: SpendRequest, known: SpendFacts = facts) =>
        RANK[assess(authority, request, known).assessment];
      for (const { request, expected } of all) {
        const spend = request as unknown as SpendRequest;
        const base = rankOf(spend);
        let is_raised = false;
        for (const { name, request: stuffed } of stuffings(authority, spend)) {
          const rank = rankOf(stuffed);
          // Another merchant is another spend: it may only not become ALIGNED.
          if (stuffed.action.merchant === spend.action.merchant) countNamed(found.better, name, rank > base);
          is_raised ||= rank === 2;
        }
        if (expected.purpose !== 'PURPOSE_ALIGNED' && base < 2) count(found.raised, is_raised);
      }
    }
    const listed = { ...NO_FACTS, listed: confirmed(all.filter(isRight)) };
    for (const { request } of all.filter(isRight)) {
      const spend = request as unknown as SpendRequest;
      const rankOf = (one: SpendRequest) => RANK[assess(authority, one, listed).assessment];
      if (rankOf(spend) < 2) continue;
      for (const { name, request: changed } of harmless(spend)) {
        countNamed(found.lowered, name, rankOf(changed) < 2);
      }
    }
  }
  return found;
}

const isRight = ({ expected }: ExpectedSpend): boolean => expected.purpose === 'PURPOSE_ALIGNED';

/** Judges later spends like the cases with what a SHADOW over half of them left behind. */
export function measureWarm(cases: readonly ExpectedSpend[], assess: Assess): Warm {
  const warm: Warm = {
    kept: emptyShare(),
    slipped: emptyShare(),
    kept_anywhere: emptyShare(),
    changed_by_edit: emptyShare(),
  };
  for (const { authority, seen, all } of seasonsOf(cases)) {
    const facts = factsAfter(seen);
    const merchants = new Set(facts.listed.map(({ merchant }) => merchant));
    const after_edit: Authority = edited(authority);
    for (const { request, expected } of all) {
      const spend = later(request as unknown as SpendRequest);
      const { assessment } = assess(after_edit, spend, facts);
      const is_aligned = assessment === 'PURPOSE_ALIGNED';
      count(warm.changed_by_edit, assess(authority, spend, facts).assessment !== assessment);
      if (expected.purpose === 'PURPOSE_MISALIGNED') count(warm.slipped, is_aligned);
      if (expected.purpose !== 'PURPOSE_ALIGNED') continue;
      count(warm.kept_anywhere, is_aligned);
      if (merchants.has(spend.action.merchant)) count(warm.kept, is_aligned);
    }
  }
  return warm;
}

/** The goals of the unseen cases that are easy to read; harder ones are reported. */
export const GOALS = {
  misaligned_taken_for_aligned: 0.02,
  raised: 0.01,
  right_called_misaligned: 0.01,
  lowered: 0.05,
  warm_kept: 0.95,
  warm_slipped: 0.02,
} as const;

/** Right spends that were called MISALIGNED. */
export function rightCalledMisaligned(judged: readonly Judged[]): Share {
  const right = judged.filter((one) => one.expected === 'PURPOSE_ALIGNED');
  return {
    count: right.filter((one) => one.assessment.assessment === 'PURPOSE_MISALIGNED').length,
    of: right.length,
  };
}
