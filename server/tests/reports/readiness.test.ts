import type { Plan, Workspace } from '@purser/rules/domain/workspace';
import { describe, expect, test } from 'vitest';
import { BLOCKER_CODES, type BlockerCode, blockersOf } from '../../src/engine/reports/readiness.ts';
import type { ShadowSums } from '../../src/engine/reports/shadow-report.ts';
import { naiveReport, type SeenDecision } from '../support/naive-report.ts';

const DAY_MS = 86_400_000;
const BEGIN_MS = Date.parse('2026-10-01T10:00:00.000Z');

/** A hundred and five decisions on seven days that leave nothing open; `change` spoils some of them. */
function history(
  change: (each: SeenDecision, i: number) => Partial<SeenDecision> = () => ({}),
): SeenDecision[] {
  return Array.from({ length: 105 }, (_, i) => {
    const each: SeenDecision = {
      decision_id: `dec_${i}`,
      agent_id: 'agt_1',
      decision: 'ALLOW',
      mode: 'SHADOW',
      reason_codes: ['WITHIN_AUTHORITY'],
      merchant: 'Hetzner Online',
      amount_minor: 100,
      currency: 'EUR',
      created_at: new Date(BEGIN_MS + (i % 7) * DAY_MS + i).toISOString(),
      assessment: 'PURPOSE_ALIGNED',
      review_state: null,
      first_review_at: null,
      by_key_maker: false,
      label: i < 20 ? 'PURPOSE_ALIGNED' : null,
      outcome_state: 'NONE',
      executed_minor: 0,
    };
    return { ...each, ...change(each, i) };
  });
}

const AGENT = { slug: 'a', status: 'active' as const, authority_version: 1 as number | null };

function codesOf(seen: SeenDecision[], { agents = [AGENT], plan = 'team' as Plan } = {}): BlockerCode[] {
  const asked = { from: '2026-09-01T00:00:00Z', to: '2026-11-01T00:00:00Z', agent_id: null };
  const sums = naiveReport(seen, asked) as unknown as ShadowSums;
  return blockersOf(sums, agents, { plan } as Workspace).map((blocker) => blocker.code);
}

/** What brings each blocker, and what just does not. */
const CASES: Record<BlockerCode, { brings: BlockerCode[]; not: BlockerCode[] }> = {
  PLAN_CANNOT_ENFORCE: { brings: codesOf(history(), { plan: 'free' }), not: codesOf(history()) },
  NO_DECISIONS: { brings: codesOf([]), not: codesOf(history()) },
  TOO_FEW_DAYS: {
    brings: codesOf(
      history((_, i) => ({ created_at: new Date(BEGIN_MS + (i % 6) * DAY_MS + i).toISOString() })),
    ),
    not: codesOf(history()),
  },
  TOO_FEW_DECISIONS: { brings: codesOf(history().slice(0, 99)), not: codesOf(history().slice(0, 100)) },
  AGENT_WITHOUT_AUTHORITY: {
    brings: codesOf(history(), { agents: [AGENT, { ...AGENT, authority_version: null }] }),
    not: codesOf(history(), { agents: [{ ...AGENT, status: 'revoked' as never, authority_version: null }] }),
  },
  TOO_MANY_UNCLEAR: {
    brings: codesOf(history((_, i) => (i < 22 ? { reason_codes: ['PURPOSE_UNCLEAR'] } : {}))),
    not: codesOf(history((_, i) => (i < 21 ? { reason_codes: ['PURPOSE_UNCLEAR'] } : {}))),
  },
  PENDING_REVIEWS: {
    brings: codesOf(
      history((_, i) => (i < 10 ? { decision: 'REVIEW', review_state: i < 2 ? 'PENDING' : 'ALLOWED' } : {})),
    ),
    not: codesOf(
      history((_, i) => (i < 10 ? { decision: 'REVIEW', review_state: i < 1 ? 'PENDING' : 'ALLOWED' } : {})),
    ),
  },
  TOO_FEW_LABELS: {
    brings: codesOf(history((_, i) => (i === 0 ? { label: null } : {}))),
    not: codesOf(history()),
  },
  LOW_PRECISION: {
    brings: codesOf(
      history((_, i) =>
        i < 5
          ? {
              assessment: 'PURPOSE_MISALIGNED',
              label: i < 2 ? 'PURPOSE_ALIGNED' : 'PURPOSE_MISALIGNED',
              decision: 'DENY',
            }
          : {},
      ),
    ),
    not: codesOf(
      history((_, i) =>
        i < 5
          ? {
              assessment: 'PURPOSE_MISALIGNED',
              label: i < 1 ? 'PURPOSE_ALIGNED' : 'PURPOSE_MISALIGNED',
              decision: 'DENY',
            }
          : {},
      ),
    ),
  },
  LOW_RECALL: {
    brings: codesOf(
      history((_, i) => (i < 5 ? { label: 'PURPOSE_MISALIGNED', decision: i < 2 ? 'ALLOW' : 'DENY' } : {})),
    ),
    not: codesOf(
      history((_, i) => (i < 5 ? { label: 'PURPOSE_MISALIGNED', decision: i < 1 ? 'ALLOW' : 'DENY' } : {})),
    ),
  },
  EXECUTED_ALTHOUGH_DENIED: {
    brings: codesOf(
      history((_, i) =>
        i > 20 && i < 23 ? { decision: 'DENY', outcome_state: 'EXECUTED', executed_minor: 1 } : {},
      ),
    ),
    not: codesOf(
      history((_, i) =>
        i > 20 && i < 22 ? { decision: 'DENY', outcome_state: 'EXECUTED', executed_minor: 1 } : {},
      ),
    ),
  },
};

describe('readiness', () => {
  test('nothing speaks against a week of decisions that leave nothing open', () => {
    expect(codesOf(history())).toEqual([]);
  });
  test.each(BLOCKER_CODES)('%s stands just over its bound, alone, and not at it', (code) => {
    expect(CASES[code].brings).toEqual([code]);
    expect(CASES[code].not).not.toContain(code);
  });
});
