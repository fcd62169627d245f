/** The results of an attempt to send a mail: `DEAD` if the server refused the mail for good. */
export const MAIL_RESULTS = ['SENT', 'RETRY', 'DEAD'] as const;
export type MailResult = (typeof MAIL_RESULTS)[number];

/** The requests that a person gets mail about: those that they may decide, or none. */
export const PERSON_EMAILS = ['MINE', 'NONE'] as const;
export const DIGESTS = ['DAILY', 'NONE'] as const;

/** The mail server as a process knows it. */
export const MAIL_STATES = ['NOT_CONFIGURED', 'UNUSED', 'WORKING', 'FAILING'] as const;
export type MailState = (typeof MAIL_STATES)[number];
