import { WEEKDAYS } from '@purser/contract/calendar';
import type { Decision } from '@purser/contract/decisions';
import type { QuietHours } from '@purser/contract/routes/notices/channels';
import type { NoticeKind } from '@purser/contract/values/channels';
import type { Notice } from '@purser/rules/notices/channels';
import { type NotifiedPerson, peopleToNotify } from '@purser/rules/notices/people';
import { matchesFilter, type NoticeRecipient } from '@purser/rules/notices/recipients';
import type { SummedRequests } from '@purser/rules/notices/text';
import { isActive, nextInactiveMs } from '@purser/rules/policy/active-hours';
import { derivedId, type NewId } from '@purser/rules/values/ids';
import type { NoticeBurst } from '../storage/notices/notices.ts';
import type { LastDigest } from '../storage/notices/people.ts';

/** The requests of an agent in one minute that cause a notice each; those after them cause summaries. */
export const MAX_REQUESTED_A_MINUTE = 5;
const MINUTE_MS = 60_000;
/** A summary is due this long after its minute, when every batch of the minute was committed. */
const SUMMARY_DELAY_MS = 5_000;

/**
 * When a notice that is due at `due_ms` is sent: then, or at the end of the quiet hours that `due_ms` lies in. It is sent
 * at `due_ms` also where the request expires before the hours end, and where they never end. Milliseconds since 1970 UTC.
 */
export function afterQuietHours(hours: QuietHours | null, due_ms: number, expires_ms: number | null): number {
  if (hours === null) return due_ms;
  const { time_zone, from, to, days = [...WEEKDAYS] } = hours;
  const periods = [{ days, from, to }];
  if (!isActive(periods, time_zone, due_ms)) return due_ms;
  const end_ms = nextInactiveMs(periods, time_zone, due_ms);
  return end_ms === null || (expires_ms !== null && expires_ms <= end_ms) ? due_ms : end_ms;
}

/** The rows about notices that a batch writes. */
export interface NoticeChanges {
  notices: Map<string, Notice>;
  bursts: Map<string, NoticeBurst>;
  digests: LastDigest[];
}

/** A kind of notice that a request causes, and when. */
interface Occasion {
  kind: 'REQUESTED' | 'REMINDER' | 'ESCALATED';
  due_ms: number;
}

/** When a request causes more notices; null: never. */
export interface ReviewTimes {
  remind_before_seconds: number | null;
  /** ISO 8601 UTC. */
  escalates_at: string | null;
}

/** The requests that a SUMMARY covers: those of a minute that caused no notice of their own. */
export interface SummaryData {
  about: Occasion['kind'];
  /** Minutes since 1970, by the ids of the decisions. */
  minute: number;
}

interface NoticesOptions {
  now_ms: number;
  order_ms: number;
  newId: NewId;
  bursts: readonly NoticeBurst[];
  /** The active channels. */
  recipients: () => readonly NoticeRecipient[];
  /** The members who are mailed notices, as far as the command needs them. */
  people: readonly NotifiedPerson[];
  last_digests: readonly LastDigest[];
  /** Puts a notice into the queue of its recipient. */
  enqueue: (notice: Notice) => void;
}

/**
 * The notices of a batch. Each is written in the transaction of the change that it is about, with a delivery in the queue
 * of its recipient. Nothing has to be written when a request is decided: from then on its notices count as OBSOLETE.
 */
export class Notices {
  readonly changes: NoticeChanges = { notices: new Map(), bursts: new Map(), digests: [] };
  readonly #options: NoticesOptions;
  readonly #bursts: Map<string, NoticeBurst>;

  constructor(options: NoticesOptions) {
    this.#options = options;
    this.#bursts = new Map(options.bursts.map((burst) => [burst.agent_id, burst]));
  }

  /**
   * Notifies the channels whose filters match, and the people who may decide, that a request waits for a review; later of
   * its expiry and escalation, as `times` says. The sixth request of an agent in a minute and those after it join the SUMMARY of that minute.
   */
  requested(decision: Decision, times: ReviewTimes): void {
    const channels = this.#options.recipients();
    const { people } = this.#options;
    if (channels.length + people.length === 0) return;
    const requested = this.#countRequested(decision.agent.id);
    const { expires_at } = decision.reservation;
    const expires_ms = expires_at === null ? null : Date.parse(expires_at);
    for (const occasion of this.#occasions(expires_ms, times)) {
      // The first request over the limit makes the summary of each channel for those after it too. Other people may decide those.
      const is_made = occasion.kind === 'REQUESTED' && requested > MAX_REQUESTED_A_MINUTE + 1;
      const notified = peopleToNotify(people, decision, occasion.kind);
      for (const recipient of is_made ? notified : [...channels, ...notified]) {
        if (requested > MAX_REQUESTED_A_MINUTE) this.#summarize(recipient, occasion);
        else if (matchesFilter(recipient.filter, decision)) {
          const due_ms = afterQuietHours(recipient.quiet_hours, occasion.due_ms, expires_ms);
          this.#add(recipient, {
            kind: occasion.kind,
            decision_id: decision.decision_id,
            due_ms,
            data: null,
          });
        }
      }
    }
  }

  /** Notifies the person of a principal, if they are mailed notices, that a request was assigned to them. */
  assigned(decision_id: string, principal_id: string, expires_ms: number | null): void {
    const assignee = this.#options.people.find((person) => person.principal_id === principal_id);
    if (assignee === undefined) return;
    const due_ms = afterQuietHours(assignee.quiet_hours, this.#options.now_ms, expires_ms);
    this.#add(assignee, { kind: 'ASSIGNED', decision_id, due_ms, data: null });
  }

  /** Sends a person the digest that was due at `due_at`, unless it was made already. */
  digest(person: NoticeRecipient, due_at: string, summed: SummedRequests): void {
    const user_id = person.recipient_id;
    const made = [...this.#options.last_digests, ...this.changes.digests];
    if (made.some((last) => last.user_id === user_id && last.due_at >= due_at)) return;
    this.changes.digests.push({ user_id, due_at });
    const data = JSON.stringify(summed);
    this.#add(person, { kind: 'DIGEST', decision_id: null, due_ms: this.#options.now_ms, data });
  }

  /** Tells all recipients of a limit that usage reached. `data` is the JSON text of the event for webhooks. */
  limitReached(data: string): void {
    for (const recipient of this.#options.recipients()) this.#addNow(recipient, 'LIMIT', data);
  }

  /** Tells all other recipients that a channel fails, once for each series of failures. */
  failing(channel: { channel_id: string; name: string }, failing_since: string, error: string): void {
    const data = JSON.stringify({ channel_id: channel.channel_id, name: channel.name, failing_since, error });
    for (const recipient of this.#options.recipients()) {
      const { recipient_id } = recipient;
      if (recipient_id === channel.channel_id) continue;
      const id = derivedId(
        'notice',
        Date.parse(failing_since),
        `FAILING ${channel.channel_id} ${failing_since} ${recipient_id}`,
      );
      this.#addNow(recipient, 'FAILING', data, id);
    }
  }

  /** Sends a test to one channel, at once even during quiet hours. Returns the notice's id. */
  test(recipient: NoticeRecipient): string {
    const due_ms = this.#options.now_ms;
    return this.#add(recipient, { kind: 'TEST', decision_id: null, due_ms, data: null });
  }

  *#occasions(expires_ms: number | null, times: ReviewTimes): Generator<Occasion> {
    const { now_ms } = this.#options;
    yield { kind: 'REQUESTED', due_ms: now_ms };
    if (times.remind_before_seconds !== null && expires_ms !== null) {
      const due_ms = expires_ms - times.remind_before_seconds * 1_000;
      // A reminder of a request that was made just now would say nothing.
      if (due_ms > now_ms) yield { kind: 'REMINDER', due_ms };
    }
    if (times.escalates_at !== null) yield { kind: 'ESCALATED', due_ms: Date.parse(times.escalates_at) };
  }

  /** Counts a request of the agent. Returns the number of its requests in this minute, which is exact up to the limit and one more. */
  #countRequested(agent_id: string): number {
    const minute = this.#minute();
    const before = this.#bursts.get(agent_id);
    const requested = before?.minute === minute ? before.requested + 1 : 1;
    const burst = { agent_id, minute, requested };
    // A larger number has no other effect, so it needs no write.
    if (requested > MAX_REQUESTED_A_MINUTE + 1) return requested;
    this.#bursts.set(agent_id, burst);
    this.changes.bursts.set(agent_id, burst);
    return requested;
  }

  /** Puts a request into the recipient's SUMMARY of this minute, which the first such request makes. */
  #summarize(recipient: NoticeRecipient, { kind, due_ms }: Occasion): void {
    const { now_ms } = this.#options;
    const minute = this.#minute();
    const data: SummaryData = { about: kind, minute };
    const to_end_ms = MINUTE_MS - (now_ms % MINUTE_MS) + SUMMARY_DELAY_MS;
    const rounded_ms = due_ms - (due_ms % MINUTE_MS) + MINUTE_MS;
    const due = kind === 'REQUESTED' ? now_ms + to_end_ms : rounded_ms;
    const sent_ms = afterQuietHours(recipient.quiet_hours, due, null);
    const id = derivedId('notice', sent_ms, `SUMMARY ${recipient.recipient_id} ${kind} ${minute}`);
    if (this.changes.notices.has(id)) return;
    const row = { kind: 'SUMMARY' as const, decision_id: null, due_ms: sent_ms, data: JSON.stringify(data) };
    this.#add(recipient, row, id);
  }

  #minute(): number {
    return Math.floor(this.#options.order_ms / MINUTE_MS);
  }

  #addNow(recipient: NoticeRecipient, kind: NoticeKind, data: string, id?: string): void {
    const due_ms = afterQuietHours(recipient.quiet_hours, this.#options.now_ms, null);
    this.#add(recipient, { kind, decision_id: null, due_ms, data }, id);
  }

  #add(
    { recipient_id, name }: NoticeRecipient,
    { kind, decision_id, due_ms, data }: Pick<Notice, 'kind' | 'decision_id' | 'data'> & { due_ms: number },
    notice_id = this.#options.newId('notice'),
  ): string {
    const notice: Notice = {
      notice_id,
      kind,
      decision_id,
      recipient_id,
      recipient: name,
      status: 'SCHEDULED',
      due_at: new Date(due_ms).toISOString(),
      attempts: 0,
      error: null,
      data,
    };
    this.changes.notices.set(notice_id, notice);
    this.#options.enqueue(notice);
    return notice_id;
  }
}
