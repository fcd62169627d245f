/**
 * Tables that say which workspace something belongs to: they stay on the coordinator, so that one lost worker stops neither
 * sign-in nor new keys. Batches of the lane write them, and Citus knows them: it then commits in two phases, so that such a
 * batch is committed on both nodes or on neither.
 */
const OF_BATCHES: readonly string[] = ['api_key_digests', 'invitations', 'members', 'rails', 'workspaces'];

/**
 * Tables of people and of the installation, which stay on the coordinator as plain tables of PostgreSQL. A batch writes
 * them only beside one of those above.
 */
const PLAIN: readonly string[] = [
  'emails',
  'installation',
  'notification_settings',
  'passkey_challenges',
  'schema_migrations',
  'sessions',
  'setup_codes',
  'sign_ins',
  'states_to_refold',
  'used_oidc_states',
  'user_identities',
  'user_passkeys',
  'users',
];

/** How a table lies: `distributed` by its workspace, `known` to Citus on the coordinator, or `plain` there. */
export function placeOf(table: string): 'distributed' | 'known' | 'plain' {
  if (OF_BATCHES.includes(table)) return 'known';
  return PLAIN.includes(table) ? 'plain' : 'distributed';
}
