import type { Role } from '../../api/people.ts';

/** Roles, with what each may do in words. */
export const ROLES: readonly { role: Role; says: string }[] = [
  {
    role: 'admin',
    says: 'Changes authorities, agents, keys, webhooks and people, and reviews. Never asks for a spend.',
  },
  { role: 'reviewer', says: 'Reads everything, reviews and labels.' },
  { role: 'viewer', says: 'Reads everything and changes nothing.' },
];
