import type { Decision, LedgerEvent } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { purser } from '../../api/client.ts';
import { inParts } from '../../api/in-parts.ts';
import { canHash, hashOf } from '../../lib/ledger.ts';

/** An entry of the ledger, and the hash that this browser makes of it; null: it cannot make any. */
export interface Computed {
  event: LedgerEvent;
  hash: string | null;
}

/** What the ledger has of a decision, oldest first, and the records of it that no entry speaks of. */
export interface Entries {
  entries: Computed[];
  missing: string[];
}

/**
 * All entries about a decision: its making, each review, label and outcome, the use of its capability and the end of its
 * hold. The records are read before the entries, so that one recorded meanwhile is not missed.
 */
export function useEntries({ decision_id, capability, reservation }: Decision) {
  return useQuery({
    queryKey: ['decision', decision_id, 'ledger'],
    queryFn: async (): Promise<Entries> => {
      const [reviews, labels, outcomes] = await Promise.all([
        purser.decisions.listReviews(decision_id),
        purser.decisions.listLabels(decision_id),
        purser.decisions.listOutcomes(decision_id),
      ]);
      const recorded = [
        decision_id,
        ...reviews.data.map((each) => each.review_id),
        ...labels.data.map((each) => each.label_id),
        ...outcomes.data.map((each) => each.outcome_id),
        ...(capability?.status === 'CONSUMED' ? [capability.capability_id] : []),
      ];
      const possible = [capability?.capability_id, reservation.reservation_id].filter((id) => id != null);
      const subjects = [...new Set([...recorded, ...possible])];
      const found = await inParts(subjects, async (subject) => {
        const page = await purser.ledger.events({ subject, order: 'asc', limit: 200 });
        return page.data;
      });
      const events = found.sort((a, b) => a.seq - b.seq);
      const entries = await Promise.all(
        events.map(async (event) => ({ event, hash: canHash() ? await hashOf(event) : null })),
      );
      const told = new Set(events.map(({ subject }) => subject.id));
      return { entries, missing: recorded.filter((id) => !told.has(id)) };
    },
  });
}
