import type { LedgerEvent } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useAgentNames } from '../api/agent-names.ts';
import { useBudgets } from '../api/budgets.ts';
import { purser } from '../api/client.ts';
import { useMay } from '../api/queries.ts';
import { visible } from '../lib/visible.ts';
import { words } from '../lib/words.ts';

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
};

/** Includes revoked keys, since records outlive them. */
const EVERY_KEY = { all: '1' };

/** The name of a subject, where it has one and this person may know it. The lists are those that other parts of the page load. */
function useNameOf({ type, id }: { type: string; id: string }): string | undefined {
  const may = useMay('admin');
  const { byId } = useAgentNames({ enabled: type === 'agent' || type === 'authority' });
  const budgets = useBudgets({ enabled: type === 'budget' });
  const keys = useQuery({
    queryKey: ['keys', 'names'],
    queryFn: async () => (await purser.apiKeys.list({ limit: 200 })).data,
    staleTime: 300_000,
    enabled: may && type === 'api_key',
  });
  const members = useQuery({
    queryKey: ['team', 'names'],
    queryFn: async () => (await purser.members.list({ limit: 200 })).data,
    staleTime: 300_000,
    enabled: may && type === 'member',
  });
  if (type === 'agent' || type === 'authority') return byId.get(id)?.name;
  if (type === 'budget') return budgets.data?.find((each) => each.id === id)?.name;
  if (type === 'api_key') return keys.data?.find((each) => each.id === id)?.name;
  return members.data?.find((each) => each.user_id === id)?.name;
}

/** The subject of a ledger entry or audit record, with a link if it has a page. */
export function SubjectLink({
  subject: { type, id },
}: {
  subject: Pick<LedgerEvent['subject'], 'id'> & { type: string };
}) {
  const path = PATHS[type];
  const name = useNameOf({ type, id });
  return (
    <>
      <span style={{ color: 'var(--faint)' }}>{words(type)}</span>{' '}
      {path === undefined ? (
        <code>{id}</code>
      ) : (
        <Link to={path(id)} search={type === 'api_key' ? EVERY_KEY : {}} title={id}>
          {name === undefined ? id : visible(name)}
        </Link>
      )}
    </>
  );
}
