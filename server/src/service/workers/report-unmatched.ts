import type { UnmatchedSpendBody } from '@purser/contract/history/coverage';
import { SYSTEM } from '@purser/rules/domain/audit';
import { coverageSettings } from '@purser/rules/matching/settings';
import type pg from 'pg';
import { reportUnmatched } from '../../engine/commands/matching/report-unmatched.ts';
import type { Lane } from '../../engine/lane/lane.ts';
import {
  findNearest,
  findUnmatchedLines,
  findUnmatchedReceivers,
} from '../../engine/matching/find-unmatched.ts';
import { getLines } from '../../engine/storage/history/lines.ts';
import { loadWorkspace } from '../../engine/storage/workspaces.ts';
import { lineBody } from '../api/history/lines.ts';

/** Lines of a workspace that one round reports. */
const LINES_AT_ONCE = 100;
const BY_SYSTEM = { actor: SYSTEM, request_id: null, client_address: null };

/** Makes a round that sends `spend.unmatched` where an endpoint takes it, once for each line after its grace. */
export function makeReportUnmatched({ db, lane }: { db: pg.Pool; lane: Lane }): () => Promise<void> {
  return async () => {
    for (const { workspace_id, since } of await findUnmatchedReceivers(db)) {
      const workspace = await loadWorkspace(db, workspace_id);
      if (workspace === undefined) continue;
      const settings = coverageSettings(workspace);
      const { grace_seconds } = settings;
      const wanted = { since, grace_seconds, limit: LINES_AT_ONCE };
      const ids = await findUnmatchedLines(db, workspace_id, wanted);
      if (ids.length === 0) continue;
      const lines = await getLines(db, workspace_id, ids, grace_seconds);
      const nearest = await findNearest(db, workspace_id, lines, settings);
      const spends = lines.flatMap((line): UnmatchedSpendBody[] => {
        const { state, line_id } = line;
        if (state !== 'NEVER_ASKED' && state !== 'REFUSED') return [];
        return [{ line: lineBody(line), state, nearest: nearest.get(line_id) ?? [] }];
      });
      await lane.submit(workspace_id, reportUnmatched, { spends }, BY_SYSTEM);
    }
  };
}
