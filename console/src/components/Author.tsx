import { useQuery } from '@tanstack/react-query';
import { purser } from '../api/client.ts';
import { useMay, useMe } from '../api/queries.ts';
import { cx } from '../lib/cx.ts';
import { visible } from '../lib/visible.ts';
import { words } from '../lib/words.ts';
import { Badge } from './Badge.tsx';
import styles from './Value.module.css';

/**
 * The author of a record: a person, or a key and its person. Readers see their own name. Administrators also see the names
 * of other people and of keys. The e-mail distinguishes people with the same name. The tooltip has principal and key.
 */
export function Author({ principal_id, key_id }: { principal_id: string | null; key_id: string | null }) {
  if (key_id !== null) return <NamedKey key_id={key_id} principal_id={principal_id} />;
  return principal_id === null ? 'the operator' : <Person principal_id={principal_id} />;
}

/** Marks a review by the person who created the key that requested the payment. */
export function KeyCreatorBadge({ of }: { of: { by_key_maker: boolean } }) {
  if (!of.by_key_maker) return null;
  return (
    <span title="The reviewer created the key that sent this request, or a key that led to it.">
      <Badge tone="review">Created the requesting key</Badge>
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

/** A key with the person of its principal, or else the person who created it. */
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

/**
 * Tells under which name the history will record an action. Goes beside every control that writes to it. The principal is in
 * the tooltip and on the person's account page.
 */
export function RecordedAs({ className }: { className?: string | undefined }) {
  const me = useMe();
  return (
    <span className={cx(styles.as, className)} data-screen-only>
      Recorded as <span title={me.principal_id}>{me.user.name}</span>
    </span>
  );
}
