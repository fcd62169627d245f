import { BLOCKER_CODES, BLOCKERS, type BlockerCode, WARNING_CODES } from '@purser/contract/values/reports';
import type { Agent } from '@purser/rules/domain/agents';
import { mayEnforce, type Workspace } from '@purser/rules/domain/workspace';
import { type ShadowSums, share } from './shadow-report.ts';

export { BLOCKER_CODES, type BlockerCode, WARNING_CODES };

export interface Warning {
  code: (typeof WARNING_CODES)[number];
  message: string;
  /** Slugs of the agents concerned. */
  agents: string[];
  /** Sentences of their authorities. */
  sentences: string[];
}

/** The warning that people reviewed what keys of their own asked for; none where nobody did. */
export function keyMakerWarnings({ count, pending, by_key_maker }: ShadowSums['reviews']): Warning[] {
  if (by_key_maker === 0) return [];
  const message = `${by_key_maker} of ${count - pending} reviews were given by the person who created the requesting key. Enforce refuses these while another member may review, or if the separation of duties is MAKER.`;
  return [{ code: 'REVIEWED_BY_KEY_MAKER', message, agents: [], sentences: [] }];
}

/** A reason against switching to ENFORCE. */
export interface Blocker {
  code: BlockerCode;
  message: string;
  /** The observed value and the bound that it violates; null where there are no numbers. Shares are 0..1. */
  observed: number | null;
  bound: number | null;
  /** Slugs of the agents concerned; empty where it is not about agents. */
  agents: string[];
}

/** A value under a MIN_ or over a MAX_ bound is a blocker. Shares are 0..1. */
const MIN_DAYS = 7;
const MIN_DECISIONS = 100;
const MIN_LABELS = 20;
/** A share of fewer labels than this says too little to be a blocker. */
const MIN_FOR_SHARE = 5;
const MIN_PRECISION = 0.8;
const MIN_RECALL = 0.8;
const MAX_UNCLEAR = 0.2;
const MAX_PENDING = 0.1;
const MAX_EXECUTED_DENIED = 0.01;

/** The blockers for switching these agents to ENFORCE, in the order of `BLOCKERS`. Without any they are ready. */
export function blockersOf(
  sums: ShadowSums,
  agents: readonly Pick<Agent, 'slug' | 'status' | 'authority_version'>[],
  workspace: Workspace,
): Blocker[] {
  const { totals, by_day, by_reason, labels, reviews, outcomes } = sums;
  const found = new Map<BlockerCode, Omit<Blocker, 'code' | 'message'>>();
  const note = (
    code: BlockerCode,
    observed: number | null = null,
    bound: number | null = null,
    slugs: string[] = [],
  ) => found.set(code, { observed, bound, agents: slugs });
  const atLeast = (code: BlockerCode, observed: number, bound: number) =>
    observed < bound && note(code, observed, bound);
  const atMost = (code: BlockerCode, observed: number, bound: number) =>
    observed > bound && note(code, observed, bound);

  if (!mayEnforce(workspace)) note('PLAN_CANNOT_ENFORCE');
  const bare = agents
    .filter((agent) => agent.status !== 'revoked' && agent.authority_version === null)
    .map((agent) => agent.slug);
  if (bare.length > 0) note('AGENT_WITHOUT_AUTHORITY', bare.length, 0, bare.sort());
  if (totals.count === 0) {
    note('NO_DECISIONS', 0, MIN_DECISIONS);
  } else {
    atLeast('TOO_FEW_DAYS', by_day.length, MIN_DAYS);
    atLeast('TOO_FEW_DECISIONS', totals.count, MIN_DECISIONS);
    const unclear = by_reason.find((each) => each.reason_code === 'PURPOSE_UNCLEAR')?.count ?? 0;
    atMost('TOO_MANY_UNCLEAR', share(unclear, totals.count) ?? 0, MAX_UNCLEAR);
    atMost('PENDING_REVIEWS', share(reviews.pending, reviews.count) ?? 0, MAX_PENDING);
    atLeast('TOO_FEW_LABELS', labels.labeled, MIN_LABELS);
    const { matrix } = labels;
    const judged = matrix.PURPOSE_MISALIGNED.PURPOSE_MISALIGNED + matrix.PURPOSE_MISALIGNED.PURPOSE_ALIGNED;
    if (judged >= MIN_FOR_SHARE) atLeast('LOW_PRECISION', labels.precision ?? 0, MIN_PRECISION);
    const misaligned = Object.values(matrix).reduce((sum, row) => sum + row.PURPOSE_MISALIGNED, 0);
    // A misaligned spend may be stopped for another reason, so what counts is how many would have been allowed.
    if (misaligned >= MIN_FOR_SHARE) {
      atLeast('LOW_RECALL', share(misaligned - labels.misaligned_allowed, misaligned) ?? 0, MIN_RECALL);
    }
    const denied = outcomes.executed_although_stopped.by_stop
      .filter((each) => each.stop === 'DENY')
      .reduce((sum, each) => sum + each.count, 0);
    atMost('EXECUTED_ALTHOUGH_DENIED', share(denied, totals.count) ?? 0, MAX_EXECUTED_DENIED);
  }
  return BLOCKER_CODES.flatMap((code) => {
    const blocker = found.get(code);
    return blocker === undefined ? [] : [{ code, message: BLOCKERS[code], ...blocker }];
  });
}
