import type { ChannelType, NoticeKind } from '@purser/contract/values/channels';
import type { ChannelSettings } from '@purser/rules/notices/channels';
import type { NoticeText } from '@purser/rules/notices/text';

/** The result of one attempt to send a notice. */
export type Outcome =
  | { kind: 'delivered' }
  /** It is sent again by the schedule of webhooks. With `after_ms` not before, and until then the receiver gets nothing. */
  | { kind: 'retry'; error: string; after_ms?: number | undefined }
  /** It is not sent again. `gone`: the receiver no longer exists, so its channel is disabled. */
  | { kind: 'dead'; reason: string; gone?: boolean };

/** A notice as senders get it. */
export interface OutgoingNotice {
  /** The same at every attempt: the `webhook-id` or `Message-ID`. */
  notice_id: string;
  kind: NoticeKind;
  /** When the notice was made, ISO 8601 UTC. */
  created_at: string;
  /** The message in the words of every channel. */
  text: NoticeText;
  /** The request that it is about, and the verdicts that one click may give; null: it is about none. */
  review: { decision_id: string; allow: boolean; deny: boolean } | null;
  /** The facts, for receivers that are programs. */
  data: Record<string, unknown>;
}

/** The channel or person that notices are sent to. */
export interface Receiver {
  workspace_id: string;
  /** The id of the channel, or of the user. */
  receiver_id: string;
  /** The settings in plain text; of a person their verified e-mail, in `addresses`. */
  settings: ChannelSettings;
}

/** The connections to one receiver. */
export interface ReceiverConnections {
  /** Accepts no more attempts, and closes when those in progress have ended. */
  retire(): void;
  /** Aborts the attempts in progress. */
  close(): void;
}

/** Sends notices to one receiver. No other receiver shares its connections. */
export interface Sender extends ReceiverConnections {
  /** Makes one attempt. Never rejects. */
  send(notice: OutgoingNotice): Promise<Outcome>;
}

/** Makes the sender to a receiver. */
export type MakeSender = (receiver: Receiver) => Sender;

/** The senders of this process, by type of channel; `person`: mail to a member. A type without one cannot be used. */
export type Senders = Partial<Record<ChannelType | 'person', MakeSender>>;

/** Everything that has a queue. */
export type ReceiverKind = 'endpoint' | ChannelType | 'person';
