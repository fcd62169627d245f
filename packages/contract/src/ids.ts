/** The prefix of the ids of each kind. */
export const ID_PREFIXES = {
  workspace: 'ws',
  agent: 'agt',
  api_key: 'key',
  decision: 'dec',
  reservation: 'rsv',
  capability: 'cap',
  review: 'rev',
  label: 'lbl',
  outcome: 'out',
  event: 'evt',
  audit: 'aud',
  webhook: 'wh',
  delivery: 'dlv',
  request: 'req',
  user: 'usr',
  session: 'ses',
  invitation: 'inv',
  sign_in: 'sgn',
  email: 'eml',
  merchant: 'mer',
  budget: 'bud',
  question: 'q',
  note: 'not',
} as const;

export type IdKind = keyof typeof ID_PREFIXES;
