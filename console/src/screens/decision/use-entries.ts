import type { Decision, LedgerEvent } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { purser } from '../../api/client.ts';
import { inChunks } from '../../api/in-chunks.ts';
import { canHash, hashOf } from '../../lib/ledger.ts';

/** A ledger entry and the hash computed in this browser. Null if the browser cannot compute hashes. */
export interface Computed {
  event: LedgerEvent;
  hash: string | null;
}

/** The ledger entries about a decision, oldest first, and the IDs of its records without an entry. */
export interface Entries {
  entries: Computed[];
  missing: string[];
}

/**
 * Loads all entries about a decision: its creation, each review, label and outcome, the use of its capability and the end
 * of its hold. Records are read before entries, so that a record made in between does not count as missing.
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
      const found = await inChunks(subjects, async (subject) => {
        const page = await purser.ledger.events({ subject, order: 'asc', limit: 200 });
        return page.data;
      });
      const events = found.sort((a, b) => a.seq - b.seq);
      const entries = await Promise.all(
        events.map(async (event) => ({ event, hash: canHash() ? await hashOf(event) : null })),
      );
      const sealed = new Set(events.map(({ subject }) => subject.id));
      return { entries, missing: recorded.filter((id) => !sealed.has(id)) };
    },
  });
}
