import { useQuery } from '@tanstack/react-query';
import { useAgentNames } from './agent-names.ts';
import { useBudgets } from './budgets.ts';
import { purser } from './client.ts';
import { useMay } from './queries.ts';

const MOST = { limit: 200 };
const NO_NAMES: Naming['namesIn'] = () => new Map();

/** A list that names subjects of one type. */
interface Naming {
  /** True if administrators alone may read the list. */
  is_of_admins: boolean;
  key: readonly string[];
  load: () => Promise<readonly unknown[]>;
  namesIn: (rows: readonly unknown[]) => ReadonlyMap<string, string | null>;
}

const naming = <Row>(
  may: 'admin' | 'read',
  list: string,
  load: () => PromiseLike<{ data: readonly Row[] }>,
  nameOf: (row: Row) => readonly [id: string, name: string | null],
): Naming => ({
  is_of_admins: may === 'admin',
  key: [list, 'names'],
  load: async () => (await load()).data,
  namesIn: (rows) => new Map((rows as readonly Row[]).map(nameOf)),
});

const LISTS: Readonly<Record<string, Naming>> = {
  allowance: naming(
    'read',
    'allowances',
    () => purser.allowances.list(MOST),
    ({ id, name }) => [id, name],
  ),
  allowance_issuer: naming(
    'admin',
    'allowance-issuers',
    () => purser.allowanceIssuers.list(MOST),
    ({ id, name }) => [id, name],
  ),
  api_key: naming(
    'admin',
    'keys',
    () => purser.apiKeys.list(MOST),
    ({ id, name }) => [id, name],
  ),
  channel: naming(
    'admin',
    'channels',
    () => purser.channels.list(MOST),
    ({ id, name }) => [id, name],
  ),
  import: naming(
    'read',
    'imports',
    () => purser.imports.list(MOST),
    ({ id, file_name }) => [id, file_name],
  ),
  invitation: naming(
    'admin',
    'invitations',
    () => purser.invitations.list(MOST),
    ({ id, email }) => [id, email],
  ),
  member: naming(
    'admin',
    'team',
    () => purser.members.list(MOST),
    ({ user_id, name }) => [user_id, name],
  ),
  rail: naming(
    'read',
    'rails',
    () => purser.rails.list(MOST),
    ({ id, name }) => [id, name],
  ),
  webhook: naming(
    'admin',
    'webhooks',
    () => purser.webhookEndpoints.list(MOST),
    ({ id, url }) => [id, new URL(url).host],
  ),
};

/**
 * The name of a subject, where it has one and this person may know it. Of each type the newest 200 are known. Their lists are
 * loaded where one of them is shown.
 */
export function useNameOf({ type, id }: { type: string; id: string }): string | undefined {
  const list = LISTS[type];
  const may = useMay('admin') || list?.is_of_admins === false;
  const { byId } = useAgentNames({ enabled: type === 'agent' || type === 'authority' });
  const budgets = useBudgets({ enabled: type === 'budget' });
  const names = useQuery({
    queryKey: list?.key ?? [],
    queryFn: async () => (await list?.load()) ?? [],
    select: list?.namesIn ?? NO_NAMES,
    staleTime: 300_000,
    enabled: list !== undefined && may,
  });
  if (type === 'agent' || type === 'authority') return byId.get(id)?.name;
  if (type === 'budget') return budgets.data?.find((each) => each.id === id)?.name;
  return names.data?.get(id) ?? undefined;
}
