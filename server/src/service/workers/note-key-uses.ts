import { SYSTEM } from '@purser/rules/domain/audit';
import { pushTo } from '@purser/rules/values/maps';
import type { Logger } from 'pino';
import { noteKeyUses } from '../../engine/commands/note-key-uses.ts';
import type { Lane } from '../../engine/lane/lane.ts';

/** Collects when keys were used, and stores it outside the path of requests, at most once a minute for each key. */
export interface KeyUses {
  /** Notes a use in memory only, since it is called for every request. `at_ms` is the database's clock. */
  note(key: { workspace_id: string; key_id: string }, at_ms: number): void;
  /** Stores the uses that are due. */
  flush(): Promise<void>;
}

const A_MINUTE_MS = 60_000;
const MAX_KEYS = 100_000;

interface Use {
  workspace_id: string;
  key_id: string;
  at_ms: number;
  written_ms: number;
}

/** Makes the collector of one process. Beyond `MAX_KEYS` keys further ones are not noted. */
export function makeKeyUses(options: { lane: Lane; log: Logger }): KeyUses {
  const uses = new Map<string, Use>();
  return {
    note({ workspace_id, key_id }, at_ms) {
      const use = uses.get(key_id);
      if (use !== undefined) use.at_ms = at_ms;
      else if (uses.size < MAX_KEYS) uses.set(key_id, { workspace_id, key_id, at_ms, written_ms: 0 });
    },
    async flush() {
      const due = new Map<string, Use[]>();
      for (const use of uses.values()) {
        if (use.at_ms - use.written_ms < A_MINUTE_MS) continue;
        pushTo(due, use.workspace_id, use);
      }
      const origin = { actor: SYSTEM, request_id: null, client_address: null };
      for (const [workspace_id, batch] of due) {
        const written = batch.map((use) => ({
          key_id: use.key_id,
          last_used_at: new Date(use.at_ms).toISOString(),
        }));
        try {
          await options.lane.submit(workspace_id, noteKeyUses, written, origin);
          for (const [i, use] of batch.entries())
            use.written_ms = Date.parse(written[i]?.last_used_at as string);
        } catch (error) {
          options.log.warn({ err: error, workspace_id }, 'the last use of keys could not be noted');
          return;
        }
      }
    },
  };
}
