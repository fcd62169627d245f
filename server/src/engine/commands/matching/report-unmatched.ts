import type { UnmatchedSpendBody } from '@purser/contract/history/coverage';
import { recordHash } from '@purser/rules/domain/ledger';
import { type Command, done } from '../../lane/command.ts';
import { knownLine } from './known-line.ts';

export interface ReportUnmatchedInput {
  /** As the event says it; lines that were reported before, or are gone, are left out. */
  spends: readonly UnmatchedSpendBody[];
}

/** Sends `spend.unmatched` for lines, once for each. Returns how many were new. */
export const reportUnmatched: Command<ReportUnmatchedInput, number> = {
  name: 'reportUnmatched',
  needs: ({ spends }) => {
    const line_ids = spends.map(({ line }) => line.line_id);
    return { line_facts: line_ids, unmatched_lines: line_ids, webhooks: true };
  },
  apply(set, { spends }) {
    let reported = 0;
    for (const spend of spends) {
      const { line_id } = spend.line;
      if (knownLine(set, line_id) === undefined || set.resolved_lines.wasUnmatched(line_id)) continue;
      const nearest = JSON.stringify(spend.nearest);
      const row = { line_id, line_state: spend.state, nearest, created_at: set.now };
      set.resolved_lines.addUnmatched(row);
      const event_id = set.append('line.unmatched', 'line', line_id, recordHash(row));
      set.publish('spend.unmatched', JSON.stringify(spend), event_id);
      reported += 1;
    }
    return done(reported);
  },
};
