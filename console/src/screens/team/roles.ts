import type { Member } from '@purser/sdk';

/** Roles with a description. */
export const ROLES: readonly { role: Member['role']; hint: string }[] = [
  {
    role: 'admin',
    hint: 'Manages policies, agents, keys, webhooks and people, and reviews requests. Cannot request payments.',
  },
  { role: 'reviewer', hint: 'Reads everything, reviews requests and labels decisions.' },
  { role: 'viewer', hint: 'Reads everything and changes nothing.' },
];
