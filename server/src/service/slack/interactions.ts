import { reviewReasons } from '@purser/contract/reviews/choices';
import { scopesOfRole } from '@purser/contract/values/scopes';
import { stateAt } from '@purser/rules/domain/decision-states';
import type { Caller } from '@purser/rules/domain/keys';
import { ApiError } from '@purser/rules/errors';
import { slackAccount } from '@purser/rules/notices/slack-accounts';
import { type NoticeText, requestText } from '@purser/rules/notices/text';
import { clickable } from '@purser/rules/reviews/clickable';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { CreatedReview } from '../../engine/commands/reviews/create-review.ts';
import type { CreateReviewInput } from '../../engine/commands/reviews/review-case.ts';
import type { Command } from '../../engine/lane/command.ts';
import type { Lane } from '../../engine/lane/lane.ts';
import { type DecisionRecord, getDecision } from '../../engine/storage/decisions.ts';
import { loadReviews } from '../../engine/storage/reviews.ts';
import { readClock } from '../../engine/storage/workspaces.ts';
import { parseSettings } from '../notices/settings.ts';
import { readReview } from '../reviews/read-review.ts';
import { factsOf } from '../webhook-delivery/outgoing.ts';
import { BUTTONS, type CardSubject, decidedCard, shownName, subjectOf, whisper } from './cards.ts';
import type { SlackCodes } from './codes.ts';
import type { SlackApi } from './slack-api.ts';
import { findLinkedMember, findMemberName, findSlackChannel, type LinkedMember } from './slack-rows.ts';

export interface InteractionOptions {
  db: pg.Pool;
  lane: Pick<Lane, 'submit'>;
  api: SlackApi;
  createReview: Command<CreateReviewInput, CreatedReview>;
  codes: SlackCodes;
  openSecret: (workspace_id: string, sealed: string) => string;
  /** The address of a page of the console, without a slash at the beginning of `path`. */
  consoleUrl: (path: string) => string;
  /** Without a slash at its end. */
  publicUrl: () => string;
  log: Logger;
}

type Verdict = 'ALLOW' | 'DENY';

/** A click, as far as a payload of Slack says one in the form that it documents. */
export interface Click {
  verdict: Verdict;
  subject: CardSubject;
  slack_account: string;
  /** The user, to whom alone an answer is shown. */
  slack_user: string;
  /** As Slack shows the account. */
  name: string | null;
  /** The message with the buttons. */
  conversation: string;
  message_ts: string;
}

const MAX_NAME = 80;

const fieldOf = (value: unknown, field: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, field)
    ? (value as Record<string, unknown>)[field]
    : undefined;

const textOf = (value: unknown, pattern: RegExp): string | null =>
  typeof value === 'string' && pattern.test(value) ? value : null;

/**
 * Reads a click of `purser_allow` or `purser_deny`; null for anything else. In a channel that several teams of Slack share,
 * the team is that of the person who clicked.
 */
export function clickOf(payload: unknown): Click | null {
  if (fieldOf(payload, 'type') !== 'block_actions') return null;
  const actions = fieldOf(payload, 'actions');
  const action: unknown = Array.isArray(actions) && actions.length === 1 ? actions[0] : undefined;
  const action_id = fieldOf(action, 'action_id');
  const verdict = action_id === 'purser_allow' || action_id === 'purser_deny' ? BUTTONS[action_id] : null;
  const subject = subjectOf(fieldOf(action, 'value'));
  const user = fieldOf(payload, 'user');
  const team_id = fieldOf(user, 'team_id') ?? fieldOf(fieldOf(payload, 'team'), 'id');
  const account = slackAccount(team_id, fieldOf(user, 'id'));
  const conversation = textOf(fieldOf(fieldOf(payload, 'channel'), 'id'), /^[A-Z0-9]{1,40}$/);
  const message_ts = textOf(fieldOf(fieldOf(payload, 'message'), 'ts'), /^\d{1,15}\.\d{1,9}$/);
  if (verdict === null || subject === null || account === null) return null;
  if (conversation === null || message_ts === null) return null;
  const shown = fieldOf(user, 'username') ?? fieldOf(user, 'name');
  const name = typeof shown === 'string' && shown !== '' ? shownName(shown).slice(0, MAX_NAME) : null;
  const slack_user = fieldOf(user, 'id') as string;
  return { verdict, subject, slack_account: account, slack_user, name, conversation, message_ts };
}

const NOT_HERE = 'This request cannot be decided in Slack. Open it in Purser.';
const FAILED = 'Your review could not be recorded. Open the request in Purser and try again.';
const LINK_FIRST =
  'Purser does not know who you are yet. Link your account once, then click again. The link is yours alone and good for ten minutes.';

/** A linked member as a caller of the API. */
const callerOf = ({ workspace_id, principal_id, role }: LinkedMember): Caller => ({
  workspace_id,
  key_id: null,
  session: null,
  kind: 'custom',
  scopes: scopesOfRole(role),
  agent_id: null,
  principal_id,
});

/** Records clicks as reviews, and answers them in Slack. */
export class Interactions {
  readonly #options: InteractionOptions;

  constructor(options: InteractionOptions) {
    this.#options = options;
  }

  /**
   * Handles a payload that came over the connection of an app. Never rejects. Only a channel of the same app is spoken for:
   * the envelope proves no more than that.
   */
  async handle(payload: unknown, app_token: string): Promise<void> {
    const click = clickOf(payload);
    if (click === null) return;
    const { workspace_id, channel_id } = click.subject;
    try {
      const bot_token = await this.#botToken(click.subject, app_token);
      if (bot_token === null) return;
      await this.#decide(click, bot_token);
    } catch (error) {
      this.#options.log.error({ err: error, workspace_id, channel_id }, 'a click in Slack failed');
    }
  }

  async #botToken({ workspace_id, channel_id }: CardSubject, app_token: string): Promise<string | null> {
    const sealed = await findSlackChannel(this.#options.db, workspace_id, channel_id);
    if (sealed === undefined) return null;
    const settings = parseSettings(this.#options.openSecret(workspace_id, sealed));
    return settings.app_token === app_token ? (settings.bot_token ?? null) : null;
  }

  async #decide(click: Click, bot_token: string): Promise<void> {
    const { db } = this.#options;
    const { workspace_id, decision_id } = click.subject;
    const member = await findLinkedMember(db, workspace_id, click.slack_account);
    if (member === undefined) return this.#offerLink(click, bot_token);
    const record = await getDecision(db, workspace_id, decision_id, null);
    if (record === undefined) return this.#whisper(click, bot_token, NOT_HERE);
    const refused = await this.#record(click, record, member);
    const is_decided = await this.#showOutcome(click, bot_token);
    // A click that Slack sent twice finds its own review.
    if (refused !== null && !(is_decided && refused.is_final)) {
      await this.#whisper(click, bot_token, refused.text, decision_id);
    }
  }

  /** Records the review. Returns what to say if it was refused. */
  async #record(
    { verdict, slack_account }: Click,
    { decision }: DecisionRecord,
    member: LinkedMember,
  ): Promise<{ text: string; is_final: boolean } | null> {
    const { db, lane, createReview, log } = this.#options;
    const { workspace_id } = member;
    const { decision_id } = decision;
    if (!clickable(decision)[verdict === 'ALLOW' ? 'allow' : 'deny'])
      return { text: NOT_HERE, is_final: false };
    const { defaults } = defaultsOf(decision);
    const body = { action: verdict, reason_code: defaults[verdict] };
    try {
      const read = await readReview(db, { body, caller: callerOf(member), params: { id: decision_id } });
      const actor = {
        type: 'user',
        key_id: null,
        session_id: null,
        principal_id: member.principal_id,
      } as const;
      const origin = { actor, request_id: null, client_address: null };
      await lane.submit(workspace_id, createReview, { ...read, slack_account }, origin);
      return null;
    } catch (error) {
      if (error instanceof ApiError && error.status < 500) {
        return { text: error.message, is_final: error.code === 'review_final' };
      }
      log.error({ err: error, decision_id }, 'a click in Slack could not be recorded');
      return { text: FAILED, is_final: false };
    }
  }

  /** Replaces the card of a decision that is made by its outcome. Returns whether it is. */
  async #showOutcome({ subject, conversation, message_ts }: Click, bot_token: string): Promise<boolean> {
    const { db, api, publicUrl, log } = this.#options;
    const { workspace_id, decision_id } = subject;
    const record = await getDecision(db, workspace_id, decision_id, null);
    if (record === undefined) return false;
    const { decision } = record;
    const state = stateAt(decision, record.state, await readClock(db));
    if (state.review_state === 'PENDING') return false;
    const outcome = await this.#outcomeOf(workspace_id, state);
    const text: NoticeText = requestText('REQUESTED', factsOf(decision), {
      public_url: publicUrl(),
      show_claims: false,
    });
    const title = text.title.replace(/ waits for a review$/, '');
    const answer = await api.call(bot_token, 'chat.update', {
      channel: conversation,
      ts: message_ts,
      ...decidedCard({ ...text, title }, outcome),
    });
    if (!answer.ok) log.warn({ error: answer.error, decision_id }, 'a card in Slack could not be replaced');
    return true;
  }

  async #outcomeOf(
    workspace_id: string,
    { review_state, review_id }: { review_state: string | null; review_id: string | null },
  ): Promise<string> {
    if (review_id === null) return 'The review expired.';
    const [review] = await loadReviews(this.#options.db, workspace_id, [review_id]);
    const { principal_id = null, key_id = null } = review ?? {};
    const name =
      principal_id === null ? undefined : await findMemberName(this.#options.db, workspace_id, principal_id);
    const said = review_state === 'ALLOWED' ? 'Allowed' : 'Denied';
    const by =
      key_id !== null && name !== undefined ? `a key of ${shownName(name)}` : name && shownName(name);
    return `${said} by ${by ?? shownName(principal_id ?? 'a key')}`;
  }

  /** Shows the person alone how to link their account. */
  async #offerLink(click: Click, bot_token: string): Promise<void> {
    const { codes, consoleUrl } = this.#options;
    const { slack_account, name, subject } = click;
    const code = await codes.make(subject.workspace_id, { slack_account, name });
    const link = { label: 'Link my account', url: consoleUrl(`me/slack#${code}`) };
    await this.#post(click, bot_token, whisper(LINK_FIRST, link));
  }

  async #whisper(click: Click, bot_token: string, text: string, decision_id?: string): Promise<void> {
    const { consoleUrl } = this.#options;
    const link =
      decision_id === undefined
        ? undefined
        : { label: 'Open the request', url: consoleUrl(`decisions/${decision_id}`) };
    await this.#post(click, bot_token, whisper(text, link));
  }

  async #post({ conversation, slack_user }: Click, bot_token: string, message: object): Promise<void> {
    const { api, log } = this.#options;
    const body = { channel: conversation, user: slack_user, ...message };
    const answer = await api.call(bot_token, 'chat.postEphemeral', body);
    if (!answer.ok) log.warn({ error: answer.error }, 'an answer to a click could not be shown in Slack');
  }
}

function defaultsOf(decision: DecisionRecord['decision']): { defaults: Record<Verdict, string> } {
  const { default_allow, default_deny } = reviewReasons(decision, { required: 1, signed: false });
  return { defaults: { ALLOW: default_allow ?? '', DENY: default_deny ?? '' } };
}
