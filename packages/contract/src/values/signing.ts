export const SIGNING_KEY_STATUSES = ['ACTIVE', 'PENDING', 'REVOKED'] as const;

/** The minutes in which a statement may be signed. */
export const STATEMENT_MINUTES = 5;

/** The most signing keys of one person in a workspace that are not revoked. */
export const MAX_SIGNING_KEYS = 20;
