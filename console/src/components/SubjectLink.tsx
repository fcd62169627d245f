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

/** Revoked keys are among them, since records outlive what they are about. */
const EVERY_KEY = { all: '1' };

/** What an entry or a record is about, with the way there where it has a place of its own. */
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
