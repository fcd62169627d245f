import { FAILING_AFTER } from '@purser/contract/values/channels';
import type { DeliveredEventType } from '@purser/contract/values/webhooks';
import { SYSTEM } from '@purser/rules/domain/audit';
import { makeIdsAt } from '@purser/rules/values/ids';
import { noteFailing } from '../../engine/commands/notices/note-failing.ts';
import { type Ended, isNotice } from './attempts.ts';
import type { WebhookDeliveryOptions } from './delivery-options.ts';
import { type FailingChannel, type NoticeResult, recordNotices } from './notice-rows.ts';
import { type AttemptResult, type LoadedDelivery, recordAttempts } from './queue-rows.ts';
import { makeResults } from './results.ts';

type Options = Pick<
  WebhookDeliveryOptions,
  'db' | 'log' | 'lane' | 'random' | 'countAttempt' | 'countNotice'
>;

/** When an attempt began and ended, and when the next one is due; null: there is none. */
interface AttemptTimes {
  began_ms: number;
  now_ms: number;
  next_ms: number | null;
}

/** Records the ends of attempts, of events and of notices. */
export interface Recorder {
  /** Records one end. `onRecorded` is called once it is in the database. */
  record(row: LoadedDelivery, ended: Ended, times: AttemptTimes, onRecorded: () => void): void;
  /** Ends notices that have nothing to say any more; no attempt was made. */
  drop(rows: readonly LoadedDelivery[], now_ms: number): void;
  /** Resolves when everything was recorded, or was given up after a failure. */
  finish(): Promise<void>;
}

const iso = (time_ms: number) => new Date(time_ms).toISOString();
const BY_SYSTEM = { actor: SYSTEM, request_id: null, client_address: null };

/**
 * Makes the function that has the other channels notified of those that fail. The notice of a series of failures has an id
 * that follows from it, so notifying them again changes nothing.
 */
function makeAlarm({ lane, log }: Options): (failing: readonly FailingChannel[]) => void {
  const known = new Set<string>();
  return (failing) => {
    for (const { workspace_id, ...channel } of failing) {
      const name = `${workspace_id} ${channel.channel_id} ${channel.failing_since}`;
      if (known.has(name)) continue;
      known.add(name);
      lane.submit(workspace_id, noteFailing, channel, BY_SYSTEM).catch((error: unknown) => {
        known.delete(name);
        log.warn({ err: error, workspace_id, ...channel }, 'no channel was notified of one that fails');
      });
    }
  };
}

/** Makes the recorder. It also has the other channels notified of a channel that fails. */
export function makeRecorder(options: Options): Recorder {
  const { db, log } = options;
  const alarm = makeAlarm(options);
  const attempts = makeResults<AttemptResult>({ record: (results) => recordAttempts(db, results), log });
  const notices = makeResults<NoticeResult>({
    record: async (results) => alarm(await recordNotices(db, results, FAILING_AFTER)),
    log,
  });

  function noticeResult(
    { workspace_id, endpoint_id, due_at, event_id }: LoadedDelivery,
    result: Pick<NoticeResult, 'status' | 'attempts' | 'error' | 'ended_at' | 'next_due_at'>,
  ): NoticeResult {
    const notice_id = event_id as string;
    return { workspace_id, recipient_id: endpoint_id, due_at, notice_id, ...result };
  }

  function recordNotice(
    row: LoadedDelivery,
    { outcome }: Ended,
    times: AttemptTimes,
    done: () => void,
  ): void {
    const { now_ms, next_ms } = times;
    const status = outcome.kind === 'delivered' ? 'SENT' : next_ms === null ? 'FAILED' : 'RETRYING';
    const error =
      outcome.kind === 'delivered' ? null : outcome.kind === 'dead' ? outcome.reason : outcome.error;
    options.countNotice(row.receiver, status);
    const next_due_at = next_ms === null ? null : iso(next_ms);
    const result = { status, attempts: row.attempts + 1, error, ended_at: iso(now_ms), next_due_at } as const;
    notices.add(noticeResult(row, result), done);
  }

  function recordEvent(row: LoadedDelivery, { post }: Ended, times: AttemptTimes, done: () => void): void {
    const { began_ms, now_ms, next_ms } = times;
    const { received = false, http_status = null, error = null } = post ?? {};
    const status = received ? 'SUCCEEDED' : next_ms === null ? 'FAILED' : 'RETRYING';
    options.countAttempt(status);
    const result = {
      workspace_id: row.workspace_id,
      endpoint_id: row.endpoint_id,
      due_at: row.due_at,
      event_id: row.event_id as string,
      // Lists are bounded in time by their ids, so an id begins with the moment that is shown.
      attempt_id: makeIdsAt(began_ms, options.random)('delivery'),
      event_type: row.type as DeliveredEventType,
      attempt: row.attempts + 1,
      status,
      http_status,
      error,
      duration_ms: Math.max(0, Math.round(now_ms - began_ms)),
      attempted_at: iso(began_ms),
      next_attempt_at: next_ms === null ? null : iso(next_ms),
    } as const;
    attempts.add(result, done);
  }

  return {
    record(row, ended, times, onRecorded) {
      (isNotice(row) ? recordNotice : recordEvent)(row, ended, times, onRecorded);
    },
    drop(rows, now_ms) {
      for (const row of rows) {
        options.countNotice(row.receiver, 'OBSOLETE');
        const ended_at = iso(now_ms);
        const result = {
          status: 'OBSOLETE',
          attempts: row.attempts,
          error: null,
          ended_at,
          next_due_at: null,
        } as const;
        notices.add(noticeResult(row, result), () => {});
      }
    },
    async finish() {
      await Promise.all([attempts.finish(), notices.finish()]);
    },
  };
}
