import type { LedgerEvent } from '@purser/sdk';
import { Link } from '@tanstack/react-router';
import { words } from '../lib/words.ts';

const PATHS: Record<string, (id: string) => string> = {
  decision: (id) => `/decisions/${id}`,
  agent: (id) => `/agents/${id}`,
  webhook: (id) => `/webhooks/${id}`,
  api_key: () => '/keys?all=1',
  member: () => '/team',
  invitation: () => '/team',
  workspace: () => '/settings',
};

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
      {path === undefined ? <code>{id}</code> : <Link to={path(id)}>{id}</Link>}
    </>
  );
}
