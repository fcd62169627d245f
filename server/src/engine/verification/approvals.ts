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

/** Returns the facts of the decisions whose reviews on this page are signed or approvals, as their rows are now. */
export async function loadReviewedDecisions(
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
  decisions: ReadonlyMap<string, DecisionFacts>,
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
      const found = history.audited(seq, String(data.created_at), JSON.parse(data.state));
      if (found !== null) findings.add(found);
    }
  }
}
