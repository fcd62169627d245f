/** How the API's codes are said. What is missing here is said by its own letters. */
const WORDS: Record<string, string> = {
  ALLOW: 'Allow',
  REVIEW: 'Review',
  DENY: 'Deny',
  PENDING: 'Pending',
  ALLOWED: 'Allowed',
  DENIED: 'Denied',
  EXPIRED: 'Ran out',
  NONE: 'None',
  EXECUTED: 'Executed',
  FAILED: 'Failed',
  CANCELLED: 'Cancelled',
  REFUNDED: 'Refunded',
  PARTIALLY_REFUNDED: 'Partly refunded',
  SPEND_EXECUTED: 'Executed',
  SPEND_FAILED: 'Failed',
  SPEND_CANCELLED: 'Cancelled',
  PURPOSE_ALIGNED: 'Fits the purpose',
  PURPOSE_MISALIGNED: 'Against the purpose',
  PURPOSE_UNCLEAR: 'Purpose unclear',
  HELD: 'Held',
  COMMITTED: 'Committed',
  RELEASED: 'Released',
  ISSUED: 'Issued',
  CONSUMED: 'Consumed',
  REVOKED: 'Revoked',
  PASS: 'Pass',
  LIMIT: 'Capped',
  SKIPPED: 'Not set',
  active: 'Active',
  paused: 'Paused',
  revoked: 'Revoked',
  expired: 'Expired',
  disabled: 'Disabled',
  SUCCEEDED: 'Delivered',
  RETRYING: 'Retrying',
  CLIENT_REPORTED: 'reported by the client',
  PAYMENT_RAIL: 'reported by the payment rail',
  agent: 'Agent',
  admin: 'Admin',
  reviewer: 'Reviewer',
  viewer: 'Viewer',
  read_only: 'Read-only',
  payment_adapter: 'Payment adapter',
  custom: 'Custom',
  OVER_AUTHORIZED: 'More than was authorized',
  UNAUTHORIZED_EXECUTION: 'Executed without leave',
  LATE: 'After the hold was gone',
  CONTRADICTS_CLIENT: 'Contradicts the client',
  pending: 'Pending',
  accepted: 'Accepted',
  oidc: 'Identity provider',
  setup: 'Set-up code',
  reset: 'Reset link',
  api_key: 'Key',
  'api_key.created': 'Key created',
  'api_key.revoked': 'Key revoked',
  'webhook.created': 'Endpoint added',
  'webhook.updated': 'Endpoint changed',
  'webhook.deleted': 'Endpoint deleted',
  'webhook.secret_rotated': 'Secret rotated',
  'agent.updated': 'Agent changed',
  'merchant.listed': 'Merchant listed',
  'merchant.unlisted': 'Merchant unlisted',
  BLOCKED: 'Blocked',
  'authority.created': 'Authority saved',
  'workspace.updated': 'Workspace changed',
  'workspace.stopped': 'All agents stopped',
  'workspace.resumed': 'Stop ended',
  SHADOW: 'SHADOW',
  ENFORCE: 'ENFORCE',
};

/** Reasons of decisions, in a few words. */
const REASONS: Record<string, string> = {
  WITHIN_AUTHORITY: 'Within the authority',
  NO_AUTHORITY: 'No authority',
  CURRENCY_NOT_AUTHORIZED: 'Other currency',
  MERCHANT_BLOCKED: 'Merchant blocked',
  PER_TRANSACTION_LIMIT_EXCEEDED: 'Over the transaction limit',
  MONTHLY_BUDGET_EXCEEDED: 'Over the monthly budget',
  AMOUNT_LIMITED: 'Amount capped',
  MIN_AMOUNT_UNREACHABLE: 'Cap under the minimum',
  PURPOSE_MISALIGNED: 'Against the purpose',
  PURPOSE_UNCLEAR: 'Purpose unclear',
  REVIEW_THRESHOLD_EXCEEDED: 'Over the review threshold',
};

/** Stages of a decision, as headings. */
const STAGES: Record<string, string> = {
  authority: 'Authority',
  currency: 'Currency',
  merchant: 'Merchant',
  per_transaction_limit: 'Per-transaction limit',
  monthly_budget: 'Monthly budget',
  min_amount: 'Minimum amount',
  purpose: 'Purpose',
  review_threshold: 'Review threshold',
};

/** A code such as `SOME_CODE` or `some.thing_else` with spaces and a capital. */
function spelled(code: string): string {
  const text = code.replace(/[_.]+/g, ' ').toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export const words = (code: string): string => WORDS[code] ?? spelled(code);
export const reasonWords = (code: string): string => REASONS[code] ?? spelled(code);
export const stageWords = (stage: string): string => STAGES[stage] ?? spelled(stage);
export const REASON_CODES: readonly string[] = Object.keys(REASONS);
