import {
  type Checkpoint,
  openCheckpoint,
  readCheckpoint,
  type VerifyingKey,
} from '@purser/rules/domain/checkpoints';
import type { LedgerEvent, LedgerHead } from '@purser/rules/domain/ledger';
import type { Pause } from '@purser/rules/values/slices';
import type { Queryable } from '../storage/database.ts';
import { loadLedgerEvents } from '../storage/ledger.ts';
import type { CheckpointFile } from './checkpoint-files.ts';
import { loadCheckpoints } from './checkpoint-rows.ts';
import type { Findings } from './findings.ts';

/** More checkpoints than a workspace ever has in the table or in the files; older ones are not read. */
export const MAX_CHECKPOINTS = 1_000;

/** The newest checkpoint that a history was compared with, and the number of all checkpoints that were. */
export interface CheckedCheckpoint extends Checkpoint {
  checked: number;
}

/** The checkpoints that a chain is compared with. */
export interface Checkpoints {
  newest: CheckedCheckpoint | null;
  /** Reports an event that is not the signed one. Must be called in the order of the chain. */
  check(event: LedgerEvent): void;
  /** Checks the checkpoints of events up to and including `seq`, after which the verification begins. */
  checkEarlier(db: Queryable, seq: number): Promise<void>;
  /** Reports the checkpoints whose events the chain, which ends with `last`, did not have. */
  checkLater(last: LedgerHead): void;
}

/**
 * Loads the checkpoints of the table and adds those of the files. The files must be read before the transaction begins,
 * so that none of them can be ahead of it. Checkpoints that are not signed with one of the keys are reported. A signature
 * takes a tenth of a millisecond; `pause` lets other work come in before each.
 */
export async function loadAllCheckpoints(
  db: Queryable,
  workspace_id: string,
  files: readonly CheckpointFile[],
  keys: readonly VerifyingKey[],
  { findings, pause }: { findings: Findings; pause: Pause },
): Promise<Checkpoints> {
  const by_seq = new Map<number, Checkpoint[]>();
  const take = (note: string, seq: number, where: string, agrees: (said: Checkpoint) => boolean) => {
    const said = openCheckpoint(note, keys);
    if (said !== null && said.workspace_id === workspace_id && agrees(said)) {
      const others = by_seq.get(said.seq) ?? [];
      if (!others.some((other) => other.note === note)) by_seq.set(said.seq, [...others, said]);
      return;
    }
    const place = said?.seq ?? readCheckpoint(note)?.seq ?? seq;
    const detail = `The checkpoint of event ${place} in ${where} does not match the signature of this service's key.`;
    findings.add({ seq: Number.isSafeInteger(place) ? place : 0, kind: 'ROW_MISMATCH', detail });
  };
  for (const row of await loadCheckpoints(db, workspace_id, MAX_CHECKPOINTS)) {
    await pause();
    take(
      row.note,
      row.seq,
      'the table',
      (said) =>
        said.seq === row.seq &&
        said.hash.equals(row.hash) &&
        said.signed_at === row.signed_at &&
        said.key_id === row.key_id,
    );
  }
  for (const file of files) {
    await pause();
    take(file.note, file.seq, 'the files', (said) => said.seq === file.seq);
  }

  const newest = [...by_seq.values()].flat().sort((a, b) => b.seq - a.seq)[0];
  const checked = [...by_seq.values()].flat().length;

  function compare(event: Pick<LedgerEvent, 'seq' | 'hash'>): void {
    const due = by_seq.get(event.seq);
    if (due === undefined) return;
    by_seq.delete(event.seq);
    const other = due.find((said) => !said.hash.equals(event.hash));
    if (other === undefined) return;
    const detail = `Event ${event.seq} differs from the one signed at ${other.signed_at}.`;
    findings.add({ seq: event.seq, kind: 'ENTRY_ALTERED', detail });
  }

  return {
    newest: newest === undefined ? null : { ...newest, checked },
    check: compare,
    async checkEarlier(reader, seq) {
      const earlier = [...by_seq.keys()].filter((each) => each <= seq).sort((a, b) => a - b);
      for (const each of earlier) {
        const [event] = await loadLedgerEvents(reader, workspace_id, { after: each - 1, limit: 1 });
        if (event?.seq === each) compare(event);
        // An event that is missing before others is a gap. One that is missing at the end is reported as truncated.
        else if (event !== undefined) {
          by_seq.delete(each);
          const detail = `Event ${each}, which was signed, is missing before event ${event.seq}.`;
          findings.add({ seq: each, kind: 'GAP', detail });
        }
      }
    },
    checkLater(last) {
      for (const [seq, [said]] of by_seq) {
        const at = said?.signed_at;
        const detail =
          seq > last.seq
            ? `The chain ends at event ${last.seq}, but event ${seq} was signed at ${at}.`
            : `Event ${seq}, which was signed at ${at}, is missing.`;
        const kind = seq > last.seq ? 'TRUNCATED' : 'GAP';
        findings.add({ seq: seq > last.seq ? last.seq + 1 : seq, kind, detail });
      }
    },
  };
}
