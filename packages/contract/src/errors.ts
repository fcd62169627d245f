/**
 * Every error that a caller can receive, with its HTTP status, when it occurs and whether the same request may be sent
 * again. The reference page and the OpenAPI document are generated from this table.
 */
export const ERRORS = {
  invalid_request: {
    status: 400,
    when: 'The body, query or a header failed validation; the message names the field.',
    retry: false,
  },
  unauthenticated: {
    status: 401,
    when: 'The key is missing, unknown, revoked or expired; nobody is signed in; or the sign-in credentials are wrong.',
    retry: false,
  },
  insufficient_scope: { status: 403, when: 'The key cannot do this.', retry: false },
  agent_mismatch: { status: 403, when: 'An agent key named a different agent.', retry: false },
  allowance_mismatch: {
    status: 403,
    when: 'The key is bound to an allowance, and this is neither that one nor below it.',
    retry: false,
  },
  agent_not_active: {
    status: 403,
    when: 'The agent is paused or revoked, or all agents in the workspace are stopped.',
    retry: false,
  },
  self_review_forbidden: {
    status: 403,
    when: 'The reviewer requested the spend, with this key or another key of the same principal; or created the requesting key, and the workspace separates those duties.',
    retry: false,
  },
  approval_limit_exceeded: {
    status: 403,
    when: "The amount is over the reviewer's limit in the review policy, or in a currency for which they have none.",
    retry: false,
  },
  cross_site_request: {
    status: 403,
    when: 'A request with a session did not come from the console: `Sec-Fetch-Site` or `Origin` is missing or names another site.',
    retry: false,
  },
  reauthentication_required: {
    status: 403,
    when: 'This change needs a recent sign-in: confirm your identity at `POST /v1/auth/reauthenticate`, then send the request again.',
    retry: false,
  },
  signature_required: {
    status: 403,
    when: 'This needs the signature of an active signing key of yours.',
    retry: false,
  },
  signature_invalid: {
    status: 403,
    when: 'The signature, its statement or its key is not good for this: the message says why. Ask for a new statement and sign again.',
    retry: false,
  },
  method_not_allowed: {
    status: 405,
    when: 'The route accepts only POST.',
    retry: false,
  },
  not_found: { status: 404, when: 'No such resource in this workspace, or no such route.', retry: false },
  idempotency_conflict: {
    status: 409,
    when: 'The idempotency key was already used for a different request.',
    retry: false,
  },
  agent_exists: { status: 409, when: 'An agent with that slug exists.', retry: false },
  agent_limit: { status: 409, when: "The plan's agent quota is reached.", retry: false },
  authority_changed: {
    status: 409,
    when: 'The authority changed since the decision: request a new decision. Or `if-match` names another version: read the authority again.',
    retry: false,
  },
  import_in_progress: {
    status: 409,
    when: 'The file is being read already; wait until it is, or has failed.',
    retry: true,
  },
  line_not_matchable: {
    status: 409,
    when: 'The line is a refund, the decision is of another agent, or it is matched with another line.',
    retry: false,
  },
  line_limit: { status: 409, when: 'The workspace has as many lines as it may have.', retry: false },
  not_reviewable: { status: 409, when: 'Only a REVIEW decision can be reviewed.', retry: false },
  review_final: {
    status: 409,
    when: 'In ENFORCE a review is final, and an expired one can no longer be reviewed.',
    retry: false,
  },
  already_reviewed: {
    status: 409,
    when: 'The reviewer has allowed this request already, or another reviewer has used their place.',
    retry: false,
  },
  slack_taken: {
    status: 409,
    when: 'The account in Slack is linked to another member, or you have linked another account: end that link first.',
    retry: false,
  },
  review_policy_changed: {
    status: 409,
    when: '`if-match` names another version of the review policy: read it again.',
    retry: false,
  },
  outcome_conflict: {
    status: 409,
    when: 'The outcome contradicts what was already reported.',
    retry: false,
  },
  capability_used: { status: 409, when: 'The capability was already consumed.', retry: false },
  capability_expired: {
    status: 409,
    when: 'The capability expired: request a new decision.',
    retry: false,
  },
  capability_revoked: {
    status: 409,
    when: 'An outcome was reported for the spend, which ended its capability.',
    retry: false,
  },
  plan_required: {
    status: 409,
    when: 'ENFORCE needs a paid plan; webhooks need the Team plan or a trial of it.',
    retry: false,
  },
  webhook_limit: {
    status: 409,
    when: 'The workspace has reached its limit of webhook endpoints.',
    retry: false,
  },
  channel_limit: {
    status: 409,
    when: 'The workspace has reached its limit of channels.',
    retry: false,
  },
  email_not_configured: {
    status: 409,
    when: 'The service sends no mail: its operator has not set `SMTP_URL`.',
    retry: false,
  },
  merchant_limit: {
    status: 409,
    when: 'The agent has reached its limit of listed merchants.',
    retry: false,
  },
  budget_exists: {
    status: 409,
    when: 'A shared budget with this slug already exists: choose another slug.',
    retry: false,
  },
  budget_limit: {
    status: 409,
    when: 'The workspace has reached its limit of shared budgets.',
    retry: false,
  },
  allowance_exists: {
    status: 409,
    when: 'This `external_id`, or the id of this JWT, was already used for another allowance: use a new one.',
    retry: false,
  },
  allowance_limit: {
    status: 409,
    when: 'As many allowances are open or requested as may be: wait until some end, or revoke some.',
    retry: false,
  },
  allowance_not_open: {
    status: 409,
    when: 'The allowance, or one above it, is requested, denied, used up, expired or revoked.',
    retry: false,
  },
  allowance_invalid: {
    status: 422,
    when: 'The signed allowance or mandate is not good: the message names its signature, header, claim, constraint, time or issuer. Nothing was kept.',
    retry: false,
  },
  budget_frozen: {
    status: 409,
    when: 'The spend counts toward a frozen shared budget, so a review cannot allow it: unfreeze the budget, or deny the spend.',
    retry: false,
  },
  signing_key_exists: {
    status: 409,
    when: 'The passkey is already a signing key of the workspace.',
    retry: false,
  },
  signing_key_limit: {
    status: 409,
    when: 'The person has reached the limit of signing keys.',
    retry: false,
  },
  last_admin_key: {
    status: 409,
    when: "The workspace's last active admin key cannot revoke itself.",
    retry: false,
  },
  last_admin: {
    status: 409,
    when: "The workspace's last administrator cannot be demoted or removed.",
    retry: false,
  },
  already_set_up: { status: 409, when: 'The service already has a first administrator.', retry: false },
  not_a_sample: {
    status: 409,
    when: 'Only a workspace of sample data can be removed, and this is none.',
    retry: false,
  },
  no_samples_on_citus: {
    status: 409,
    when: 'The database is distributed with Citus, where no new sample can be made: make it on an installation with plain PostgreSQL.',
    retry: false,
  },
  last_way_in: {
    status: 409,
    when: "The password or passkey is the person's only sign-in method: add another first.",
    retry: false,
  },
  already_member: { status: 409, when: 'The person is already a member of the workspace.', retry: false },
  principal_taken: {
    status: 409,
    when: 'The principal belongs to another current or former member, or to a key that another person created.',
    retry: false,
  },
  misdirected_request: {
    status: 421,
    when: 'The `Host` of a request to `/mcp` is not an address of this service: set `PUBLIC_URL` to the address that clients use.',
    retry: false,
  },
  agent_required: { status: 422, when: 'A workspace key must name the agent.', retry: false },
  currency_mismatch: { status: 422, when: "The currency differs from the decision's.", retry: false },
  payee_mismatch: {
    status: 422,
    when: 'The payee is missing or differs from the payee of the decision.',
    retry: false,
  },
  merchant_mismatch: { status: 422, when: "The merchant differs from the decision's.", retry: false },
  amount_exceeds_authorized: {
    status: 422,
    when: 'The amount is more than the capability allows.',
    retry: false,
  },
  too_many_headers: {
    status: 431,
    when: 'The request has too many headers.',
    retry: false,
  },
  rate_limited: { status: 429, when: 'Too many requests; retry after the Retry-After header.', retry: true },
  internal_error: {
    status: 500,
    when: 'An unexpected error occurred; nothing was granted.',
    retry: true,
  },
  not_implemented: {
    status: 501,
    when: 'Only `transfer-encoding: chunked` is supported.',
    retry: false,
  },
  auth_unavailable: {
    status: 503,
    when: 'A key, a session or a sign-in could not be verified right now; retry.',
    retry: true,
  },
  unavailable: {
    status: 503,
    when: 'The service cannot answer right now; retry with the same idempotency key.',
    retry: true,
  },
} as const satisfies Record<string, { status: number; when: string; retry: boolean }>;

export type ErrorCode = keyof typeof ERRORS;
