import type { Decision } from '@purser/contract/decisions';
import { decisionDataHash } from '@purser/rules/domain/decisions';
import { isAdministrative, recordHash, shownHash } from '@purser/rules/domain/ledger';
import {
  type DecisionFacts,
  factsOf,
  type SignedReview,
  type SigningHistory,
} from '@purser/rules/signing/history';
import type { Queryable } from '../storage/database.ts';
import { loadDecisionRows } from '../storage/decisions.ts';
import { loadPolicySignatures } from '../storage/reviews/review-policies.ts';
import type { ChainRow } from './chain-pages.ts';
import type { Findings } from './findings.ts';
import type { SealedRow } from './sealed-rows.ts';

/** A page of the chain with the rows that its events seal. */
interface SealedPage {
  events: readonly ChainRow[];
  rows: ReadonlyMap<number, SealedRow>;
}

/** A verification's view of what people signed. */
export interface ApprovalsWalk {
  history: SigningHistory;
  /** False if the walk begins later than the chain, so that earlier signing keys are unknown. */
  is_whole: boolean;
  findings: Findings;
}

type Row = Record<string, unknown>;

const isReview = (event: ChainRow) => event.type === 'decision.review.recorded';

const isSigned = (event: ChainRow, data: Row | undefined): data is Row & { signature: string } =>
  isReview(event) && typeof data?.signature === 'string';

/** The rows that the signatures of a page are compared with, as they are now. */
interface SignedRows {
  decisions: ReadonlyMap<string, DecisionFacts>;
  /** By the `seq` of the event that seals the version. */
  policy_signatures: ReadonlyMap<number, string | null>;
}

/** Returns what the signatures of a page's reviews and review policies are compared with. */
export async function loadSignedRows(
  db: Queryable,
  workspace_id: string,
  page: SealedPage,
): Promise<SignedRows> {
  const policies = page.events.filter(({ type }) => type === 'review_policy.updated').map(({ seq }) => seq);
  return {
    decisions: await loadReviewedDecisions(db, workspace_id, page),
    policy_signatures: await loadPolicySignatures(db, workspace_id, policies),
  };
}

/** Returns the facts of the decisions whose reviews on this page are signed or approvals. */
async function loadReviewedDecisions(
  db: Queryable,
  workspace_id: string,
  { events, rows }: SealedPage,
): Promise<Map<string, DecisionFacts>> {
  const ids = new Set<string>();
  for (const event of events) {
    const data = rows.get(event.seq)?.data;
    if (isReview(event) && (isSigned(event, data) || data?.action === 'ALLOW'))
      ids.add(String(data.decision_id));
  }
  if (ids.size === 0) return new Map();
  const found = await loadDecisionRows(db, workspace_id, [...ids]);
  return new Map(
    found.flatMap((row) => {
      const facts = factsOfRow(row);
      return facts === null ? [] : [[row.decision_id, facts] as const];
    }),
  );
}

/** The facts of a row; null where its document was altered so that it is no JSON, which its own event reports. */
function factsOfRow(row: Parameters<typeof decisionDataHash>[0]): DecisionFacts | null {
  try {
    const decision = JSON.parse(row.document) as Decision;
    return { ...factsOf(decision), decision_hash: shownHash(decisionDataHash(row)) };
  } catch {
    return null;
  }
}

/** Checks the signatures of a page, whose links were checked, in the order of the chain. */
export function checkApprovals(
  { history, is_whole, findings }: ApprovalsWalk,
  { events, rows }: SealedPage,
  { decisions, policy_signatures }: SignedRows,
): void {
  for (const event of events) {
    const { seq } = event;
    const data = rows.get(seq)?.data;
    history.link(event);
    if (isSigned(event, data)) {
      const found = is_whole
        ? history.reviewed(seq, data as unknown as SignedReview, decisions.get(String(data.decision_id)))
        : history.unchecked();
      if (found != null) findings.add(found);
    } else if (isReview(event)) {
      const found = history.unsigned(seq, String(data?.action), decisions.get(String(data?.decision_id)));
      if (found !== null) findings.add(found);
    } else if (
      isAdministrative(event) &&
      typeof data?.state === 'string' &&
      is_whole &&
      recordHash(data).equals(event.data_hash)
    ) {
      const state = withStoredSignature(JSON.parse(data.state), policy_signatures.get(seq));
      const found = history.audited(seq, String(data.created_at), state);
      if (found !== null) findings.add(found);
    }
  }
}

/**
 * A review policy's sealed state with the signature of its row, which the service reads. `stored` is undefined where
 * the row is gone, which is reported as such.
 */
function withStoredSignature(state: Row, stored: string | null | undefined): Row {
  if (stored === undefined || state.review_policy === undefined) return state;
  const { signature: _sealed, ...policy } = state.review_policy as Row;
  return { ...state, review_policy: stored === null ? policy : { ...policy, signature: stored } };
}
