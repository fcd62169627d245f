import { useQuery } from '@tanstack/react-query';
import { purser } from '../api/client.ts';
import { useMay, useMe } from '../api/queries.ts';
import { cx } from '../lib/cx.ts';
import { words } from '../lib/words.ts';
import styles from './Value.module.css';

/**
 * Whose word a record is. A person is named as far as the reader may know the names: oneself always, the others by
 * administrators, who are told the names of keys too. Principal and key themselves stand in the tooltip.
 */
export function Who({ principal_id, key_id }: { principal_id: string | null; key_id: string | null }) {
  if (principal_id !== null) return <Person principal_id={principal_id} />;
  return key_id === null ? 'the operator' : <NamedKey key_id={key_id} />;
}

function Person({ principal_id }: { principal_id: string }) {
  const me = useMe();
  const may = useMay('admin');
  const members = useQuery({
    queryKey: ['team', 'names'],
    queryFn: async () => (await purser.members.list({ limit: 200 })).data,
    staleTime: 300_000,
    enabled: may && principal_id !== me.principal_id,
  });
  const name =
    principal_id === me.principal_id
      ? `${me.user.name} (you)`
      : members.data?.find((each) => each.principal_id === principal_id)?.name;
  return <span title={principal_id}>{name ?? principal_id}</span>;
}

function NamedKey({ key_id }: { key_id: string }) {
  const may = useMay('admin');
  const keys = useQuery({
    queryKey: ['keys', 'names'],
    queryFn: async () => (await purser.apiKeys.list({ limit: 200 })).data,
    staleTime: 300_000,
    enabled: may,
  });
  const key = keys.data?.find((each) => each.id === key_id);
  return <span title={key_id}>{key === undefined ? key_id : `${words(key.kind)} key “${key.name}”`}</span>;
}

/** To whom the history will attribute what is about to be done: stands beside whatever writes to it. */
export function RecordedAs({ className }: { className?: string | undefined }) {
  const me = useMe();
  return (
    <span className={cx(styles.as, className)}>
      Recorded as {me.user.name} (<code>{me.principal_id}</code>)
    </span>
  );
}
