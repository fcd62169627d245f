import type { Member } from '@purser/sdk';

/** Roles, with what each may do in words. */
export const ROLES: readonly { role: Member['role']; says: string }[] = [
  {
    role: 'admin',
    says: 'Changes authorities, agents, keys, webhooks and people, and reviews. Never asks for a spend.',
  },
  { role: 'reviewer', says: 'Reads everything, reviews and labels.' },
  { role: 'viewer', says: 'Reads everything and changes nothing.' },
];
