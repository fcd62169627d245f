/** The guide of each screen, by its heading, or by its name where the heading is that of a record. */
const GUIDES: Readonly<Record<string, string>> = {
  Inbox: 'for-reviewers',
  Overview: 'console',
  Decisions: 'finding-and-exporting',
  Decision: 'for-auditors',
  Agents: 'first-steps',
  Agent: 'from-shadow-to-enforce',
  Policy: 'writing-an-authority',
  Merchants: 'merchants',
  Budgets: 'for-finance',
  Allowances: 'allowances',
  'Shadow report': 'reading-the-report',
  History: 'before-you-integrate',
  Coverage: 'before-you-integrate',
  'What would have happened': 'before-you-integrate',
  Notifications: 'notifications',
  Webhooks: 'webhooks',
  Ledger: 'verifying-the-history',
  Audit: 'for-auditors',
  Keys: 'people-and-sign-in',
  Team: 'people-and-sign-in',
  'Review policy': 'reviews',
  Settings: 'operating',
  'Your account': 'people-and-sign-in',
};

/** Returns the address of a screen's guide; null for a screen without one. */
export const guideOf = (screen: string): string | null => {
  const slug = GUIDES[screen];
  return slug === undefined ? null : `/docs/guides/${slug}`;
};
