/** Verdicts of an entry. */
export const LISTED_VERDICTS = ['ALLOWED', 'BLOCKED'] as const;
/** Entries in force that an agent may have. */
export const MAX_ENTRIES = 2_000;

/** How far back suggestions look. */
export const SUGGESTION_DAYS = 90;
/** The newest decisions that are looked at, however many there are. */
export const MAX_LOOKED_AT = 10_000;
export const MAX_EXAMPLES = 3;
/** Payees that are named of a merchant. */
export const MAX_PAYEES = 20;
export const SUGGESTIONS = ['ALLOW', 'BLOCK', 'ASK'] as const;
