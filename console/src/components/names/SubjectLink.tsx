import type { LedgerEvent } from '@purser/sdk';
import { Link } from '@tanstack/react-router';
import { useNameOf } from '../../api/names.ts';
import { visible } from '../../lib/visible.ts';
import { words } from '../../lib/words.ts';
import styles from './SubjectLink.module.css';

const PATHS: Record<string, (id: string) => string> = {
  decision: (id) => `/decisions/${id}`,
  agent: (id) => `/agents/${id}`,
  authority: (id) => `/agents/${id}/authority`,
  budget: () => '/budgets',
  allowance: (id) => `/allowances/${id}`,
  webhook: (id) => `/webhooks/${id}`,
  api_key: () => '/keys',
  member: () => '/team',
  invitation: () => '/team',
  workspace: () => '/settings',
  channel: () => '/notifications',
  import: () => '/history',
  rail: () => '/rails',
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
  const name = useNameOf({ type, id });
  return (
    <span className={styles.subject}>
      <span className={styles.type}>{words(type)}</span>{' '}
      {path === undefined ? (
        <Unlinked id={id} name={name} />
      ) : (
        <Link to={path(id)} search={type === 'api_key' ? EVERY_KEY : {}} title={id}>
          {name === undefined ? id : visible(name)}
        </Link>
      )}
    </span>
  );
}

function Unlinked({ id, name }: { id: string; name: string | undefined }) {
  return name === undefined ? <code>{id}</code> : <span title={id}>{visible(name)}</span>;
}

/** A link to a subject by its name, or by its id where that is not known. */
export function NamedLink({ type, id, to }: { type: string; id: string; to: string }) {
  const name = useNameOf({ type, id });
  return (
    <Link to={to} title={id}>
      {name === undefined ? id : visible(name)}
    </Link>
  );
}
