/**
 * Every error that a caller can receive, with its HTTP status, when it occurs and whether the same request may be sent
 * again. The reference page and the OpenAPI document are generated from this table.
 */
export const ERRORS = {
  invalid_request: {
    status: 400,
    when: 'Body, query or header failed validation; the message names the field.',
    retry: false,
  },
  unauthenticated: {
    status: 401,
    when: 'The key is missing, unknown, revoked or expired; nobody is signed in; or what was given to sign in is wrong.',
    retry: false,
  },
  insufficient_scope: { status: 403, when: 'The key cannot do this.', retry: false },
  agent_mismatch: { status: 403, when: 'An agent key named a different agent.', retry: false },
  agent_not_active: {
    status: 403,
    when: 'The agent is paused or revoked, or all agents of the workspace are stopped.',
    retry: false,
  },
  self_review_forbidden: {
    status: 403,
    when: 'The reviewer requested the spend, with the same key or another key of the same principal; or made the requesting key, where the workspace separates those duties.',
    retry: false,
  },
  cross_site_request: {
    status: 403,
    when: 'A request with a session does not come from the console: `Sec-Fetch-Site` or `Origin` is missing or foreign.',
    retry: false,
  },
  reauthentication_required: {
    status: 403,
    when: 'This change needs a sign-in of the last minutes: prove who you are at `POST /v1/auth/reauthenticate`, and send it again.',
    retry: false,
  },
  method_not_allowed: {
    status: 405,
    when: 'The route is there for POST alone.',
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
    when: 'The authority changed since the decision: ask for a new decision. Or it is not the one that `if-match` names: read it again.',
    retry: false,
  },
  not_reviewable: { status: 409, when: 'Only a REVIEW decision can be reviewed.', retry: false },
  review_final: {
    status: 409,
    when: 'In ENFORCE a review is final, and one that ran out of time cannot be reviewed any more.',
    retry: false,
  },
  outcome_conflict: {
    status: 409,
    when: 'The outcome contradicts what was already reported.',
    retry: false,
  },
  capability_used: { status: 409, when: 'The capability was consumed already.', retry: false },
  capability_expired: {
    status: 409,
    when: 'The capability ran out of time: ask for a new decision.',
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
    when: 'The workspace has as many webhook endpoints as it may.',
    retry: false,
  },
  merchant_limit: {
    status: 409,
    when: 'The agent has as many merchants listed as it may.',
    retry: false,
  },
  budget_exists: {
    status: 409,
    when: 'A shared budget with this slug exists: choose another slug.',
    retry: false,
  },
  budget_limit: {
    status: 409,
    when: 'The workspace has as many shared budgets as it may.',
    retry: false,
  },
  budget_frozen: {
    status: 409,
    when: 'A shared budget that the spend counts in is frozen, so a review cannot allow it: unfreeze the budget, or deny the spend.',
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
  already_set_up: { status: 409, when: 'There is a first administrator already.', retry: false },
  last_way_in: {
    status: 409,
    when: 'The password or passkey is the only way in that the person has: add another first.',
    retry: false,
  },
  already_member: { status: 409, when: 'The person is a member of the workspace already.', retry: false },
  principal_taken: {
    status: 409,
    when: 'Another person who is or was a member has this principal, or a key that another person made carries it.',
    retry: false,
  },
  misdirected_request: {
    status: 421,
    when: 'The `Host` of a request to `/mcp` is not an address of this service: set `PUBLIC_URL` to the one that clients use.',
    retry: false,
  },
  agent_required: { status: 422, when: 'A workspace key must name the agent.', retry: false },
  currency_mismatch: { status: 422, when: "The currency differs from the decision's.", retry: false },
  payee_mismatch: {
    status: 422,
    when: 'The decision named a payee, and this one is another or none.',
    retry: false,
  },
  merchant_mismatch: { status: 422, when: "The merchant is not the decision's.", retry: false },
  amount_exceeds_authorized: {
    status: 422,
    when: 'The amount is over what the capability allows.',
    retry: false,
  },
  too_many_headers: {
    status: 431,
    when: 'The request has more headers than are looked through.',
    retry: false,
  },
  rate_limited: { status: 429, when: 'Too many requests; retry after the Retry-After header.', retry: true },
  internal_error: {
    status: 500,
    when: 'Something unforeseen failed here; nothing was granted.',
    retry: true,
  },
  not_implemented: {
    status: 501,
    when: 'The body has another `transfer-encoding` than `chunked`.',
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
