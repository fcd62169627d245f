/** Permissions of a key. A route lists scopes, and a key needs one of them. */
export const SCOPES = ['authorize', 'admin', 'review', 'read', 'consume'] as const;
export type Scope = (typeof SCOPES)[number];

/** A role is a name for a set of scopes. None holds `authorize` or `consume`: a person never asks for a spend. */
export const ROLES = ['admin', 'reviewer', 'viewer'] as const;
export type Role = (typeof ROLES)[number];

const SCOPES_OF_ROLES: Readonly<Record<Role, readonly Scope[]>> = {
  admin: ['admin', 'review', 'read'],
  reviewer: ['review', 'read'],
  viewer: ['read'],
};

/** Returns what a person with this role may do. */
export function scopesOfRole(role: Role): readonly Scope[] {
  return SCOPES_OF_ROLES[role];
}
