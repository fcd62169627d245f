import { useQuery } from '@tanstack/react-query';
import { purser } from '../api/client.ts';
import { useMay, useMe } from '../api/queries.ts';
import { cx } from '../lib/cx.ts';
import { visible } from '../lib/visible.ts';
import { words } from '../lib/words.ts';
import { Badge } from './Badge.tsx';
import styles from './Value.module.css';

/**
 * The author of a record: a person, or a key and its person. People are named as far as the reader may know the names:
 * oneself always, the others by administrators, who see the names of keys too. The e-mail beside a name is what tells
 * people apart. Principal and key stand in the tooltip.
 */
export function Who({ principal_id, key_id }: { principal_id: string | null; key_id: string | null }) {
  if (key_id !== null) return <NamedKey key_id={key_id} principal_id={principal_id} />;
  return principal_id === null ? 'the operator' : <Person principal_id={principal_id} />;
}

/** Marks a review by the person who made the key that requested the spend. */
export function ByKeyMaker({ of }: { of: { by_key_maker: boolean } }) {
  if (!of.by_key_maker) return null;
  return (
    <span title="The reviewer made the key that requested this spend, or a key that led to it.">
      <Badge tone="review">Made the requesting key</Badge>
    </span>
  );
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
  const member = members.data?.find((each) => each.principal_id === principal_id);
  const other = member === undefined ? principal_id : `${visible(member.name)} (${member.email})`;
  return (
    <span title={principal_id}>{principal_id === me.principal_id ? `${me.user.name} (you)` : other}</span>
  );
}

/** A key, and the person whose principal it carries or who is at the root of its making. */
function NamedKey({ key_id, principal_id }: { key_id: string; principal_id: string | null }) {
  const may = useMay('admin');
  const keys = useQuery({
    queryKey: ['keys', 'names'],
    queryFn: async () => (await purser.apiKeys.list({ limit: 200 })).data,
    staleTime: 300_000,
    enabled: may,
  });
  const key = keys.data?.find((each) => each.id === key_id);
  const person = principal_id ?? key?.made_by_person ?? null;
  return (
    <span title={key_id}>
      {key === undefined ? `key ${key_id}` : `${words(key.kind)} key “${key.name}”`}
      {person !== null && (
        <>
          {' of '}
          <Person principal_id={person} />
        </>
      )}
    </span>
  );
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
