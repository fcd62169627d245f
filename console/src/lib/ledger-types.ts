import type { LedgerEvent } from '@purser/sdk';

/** True for entry types that the audit records too. The compiler reports a type that is missing here. */
const IS_CHANGE: Readonly<Record<LedgerEvent['type'], boolean>> = {
  'decision.created': false,
  'decision.review.recorded': false,
  'decision.label.recorded': false,
  'decision.note.recorded': false,
  'decision.outcome.recorded': false,
  'capability.consumed': false,
  'reservation.expired': false,
  'agent.created': true,
  'agent.updated': true,
  'authority.created': true,
  'merchant.listed': true,
  'merchant.unlisted': true,
  'question.answered': true,
  'question.forgotten': true,
  'budget.created': true,
  'budget.updated': true,
  'budget.threshold.reached': true,
  'api_key.created': true,
  'api_key.revoked': true,
  'api_key.rewrapped': true,
  'webhook.created': true,
  'webhook.updated': true,
  'webhook.deleted': true,
  'webhook.secret_rotated': true,
  'webhook.secret_rewrapped': true,
  'channel.created': true,
  'channel.updated': true,
  'channel.deleted': true,
  'channel.settings_rewrapped': true,
  'member.invited': true,
  'member.joined': true,
  'member.role_changed': true,
  'member.removed': true,
  'invitation.revoked': true,
  'sessions.revoked': true,
  'workspace.created': true,
  'workspace.updated': true,
  'workspace.stopped': true,
  'workspace.resumed': true,
  'plan.changed': true,
};

export const LEDGER_TYPES = Object.keys(IS_CHANGE) as LedgerEvent['type'][];
/** The actions that audit records can have. */
export const AUDIT_ACTIONS = LEDGER_TYPES.filter((type) => IS_CHANGE[type]);
