import type { Filled } from './fill.ts';

/** The path of a screen below `/console`, and its heading. */
export type ScreenAt = readonly [path: string, heading: string | RegExp];

/** Screens of every workspace. */
export const SCREENS: readonly ScreenAt[] = [
  ['/', 'Overview'],
  ['/reviews', 'Inbox'],
  ['/decisions', 'Decisions'],
  ['/agents', 'Agents'],
  ['/new-agent', 'New agent'],
  ['/budgets', 'Budgets'],
  ['/allowances', 'Allowances'],
  ['/report', 'Shadow report'],
  ['/history', 'History'],
  ['/rails', 'Rails'],
  ['/history/report', 'What would have happened'],
  ['/coverage', 'Coverage'],
  ['/keys', 'Keys'],
  ['/notifications', 'Notifications'],
  ['/webhooks', 'Webhooks'],
  ['/ledger', 'Ledger'],
  ['/ledger/1', 'Entry 1'],
  ['/audit', 'Audit'],
  ['/team', 'Team'],
  ['/review-policy', 'Review policy'],
  ['/settings', 'Settings'],
  ['/me', 'Your account'],
  ['/me/slack', 'Link Slack'],
];

/** Screens of single objects in a filled workspace. `attempt` was made to `webhook_url`. */
export function screensOf(
  { pending_id, allowed_id, webhook_id }: Filled,
  attempt: { id: string; event_id: string },
  webhook_url: string,
): ScreenAt[] {
  return [
    [`/reviews?id=${pending_id}`, 'Inbox'],
    [`/decisions/${pending_id}`, 'Hetzner Online'],
    [`/decisions/${allowed_id}`, 'Hetzner Online'],
    ['/agents/infra-bot', 'Infrastructure bot'],
    ['/agents/infra-bot/authority', 'Policy'],
    ['/agents/infra-bot/merchants', 'Merchants'],
    ['/agents/infra-bot/answers', 'Answers'],
    ['/agents/infra-bot/decisions', 'Decisions'],
    ['/agents/infra-bot/keys', 'Keys'],
    ['/agents/infra-bot/report', 'Shadow report'],
    [`/webhooks/${webhook_id}`, new URL(webhook_url).host],
    [`/webhooks/attempts/${attempt.id}`, /^Attempt/],
    [`/webhooks/events/${attempt.event_id}`, 'Event'],
  ];
}

/** Screens without sign-in. */
export const OPEN_SCREENS: readonly ScreenAt[] = [
  ['/sign-in', 'Sign in'],
  ['/signed-in', 'Continue in the other window'],
  ['/setup#CODE', 'Set up Purser'],
  ['/invitation#TOKEN', /^Join/],
  ['/reset#TOKEN', 'New password'],
];
