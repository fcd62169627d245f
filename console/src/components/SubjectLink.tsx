import type { LedgerEvent } from '@purser/sdk';
import { Link } from '@tanstack/react-router';
import { words } from '../lib/words.ts';

const PATHS: Record<string, (id: string) => string> = {
  decision: (id) => `/decisions/${id}`,
  agent: (id) => `/agents/${id}`,
  authority: (id) => `/agents/${id}/authority`,
  budget: () => '/budgets',
  webhook: (id) => `/webhooks/${id}`,
  api_key: () => '/keys',
  member: () => '/team',
  invitation: () => '/team',
  workspace: () => '/settings',
};

/** Includes revoked keys, since records outlive them. */
const EVERY_KEY = { all: '1' };

/** The subject of a ledger entry or audit record, with a link if it has a page. */
export function SubjectLink({
  subject: { type, id },
}: {
  subject: Pick<LedgerEvent['subject'], 'id'> & { type: string };
}) {
  const path = PATHS[type];
  return (
    <>
      <span style={{ color: 'var(--faint)' }}>{words(type)}</span>{' '}
      {path === undefined ? (
        <code>{id}</code>
      ) : (
        <Link to={path(id)} search={type === 'api_key' ? EVERY_KEY : {}}>
          {id}
        </Link>
      )}
    </>
  );
}
