import { useQuery } from '@tanstack/react-query';
import { purser } from '../api/client.ts';
import { useMay, useMe } from '../api/queries.ts';

/**
 * Whose word a record is. A person is named as far as the reader may know the names: oneself always, the others by
 * administrators. The principal itself stands in the tooltip.
 */
export function Who({ principal_id, key_id }: { principal_id: string | null; key_id: string | null }) {
  const me = useMe();
  const may = useMay('admin');
  const members = useQuery({
    queryKey: ['team', 'names'],
    queryFn: async () => (await purser.members.list({ limit: 200 })).data,
    staleTime: 300_000,
    enabled: may && principal_id !== null && principal_id !== me.principal_id,
  });
  if (principal_id === null) return <span title={key_id ?? undefined}>{key_id ?? 'the operator'}</span>;
  const name =
    principal_id === me.principal_id
      ? `${me.user.name} (you)`
      : members.data?.find((each) => each.principal_id === principal_id)?.name;
  return <span title={principal_id}>{name ?? principal_id}</span>;
}
