import { OTHER_ADDRESSES, SIGN_IN_KINDS, SIGN_IN_RECORD_METHODS } from '@purser/contract/values/people';
import type { Logger } from 'pino';
import type { Queryable } from '../../engine/storage/database.ts';
import { IS_PENDING } from '../../engine/storage/members.ts';
import { addressBlock } from '../http/client-address.ts';

export { OTHER_ADDRESSES, SIGN_IN_KINDS, SIGN_IN_RECORD_METHODS };

export type SignInKind = (typeof SIGN_IN_KINDS)[number];
/** A sign-in, or a change of an account. */
export interface SignIn {
  kind: SignInKind;
  method: (typeof SIGN_IN_RECORD_METHODS)[number];
  email: string;
  /** Null: no member has this e-mail. */
  user_id: string | null;
  /** Null: a command of the operator. */
  client_address: string | null;
}

/** A sign-in as the list shows it. */
export interface ListedSignIn extends SignIn {
  sign_in_id: string;
  created_at: string;
  /** More than 1: the refused attempts of one address in one hour; `email` is from the last. */
  attempts: number;
}

/** The most addresses whose attempts are counted separately in an hour. All others share one row. */
const MAX_COUNTED_ADDRESSES = 20;
/**
 * Records a sign-in in each workspace of the person. An attempt with an e-mail that no member has is counted if the
 * installation has a single workspace; if it has several, no workspace shows it. A workspace with a pending membership
 * gets no client address.
 */
export async function insertSignIn(db: Queryable, signIn: SignIn, newId: () => string): Promise<void> {
  const { kind, method, email, user_id, client_address } = signIn;
  const found = await db.query<{ workspace_id: string; is_pending: boolean }>({
    name: 'workspaces_of_sign_in',
    text: `select m.workspace_id, ${IS_PENDING} as is_pending
        from members m join users u on u.user_id = m.user_id where m.user_id = $1 and m.removed_at is null
      union select w.workspace_id, false from workspaces w
        where $1::text is null and not exists (select 1 from workspaces o where o.workspace_id <> w.workspace_id)
      order by 1`,
    values: [user_id],
  });
  const workspace_ids = found.rows.map((row) => row.workspace_id);
  if (workspace_ids.length === 0) return;
  const counted = user_id === null;
  await db.query(
    counted
      ? {
          name: 'count_refused_sign_in',
          text: `insert into sign_ins (workspace_id, sign_in_id, kind, method, email, client_address, created_at, counted_hour)
            select $1, $2, $3, $4, $5,
              case when a.addresses < ${MAX_COUNTED_ADDRESSES} or a.is_counted then $6 else '${OTHER_ADDRESSES}' end, c.now, c.hour
            from (select now, date_trunc('hour', now, 'UTC') as hour from (select clock_timestamp() as now) n) c,
              lateral (select count(distinct client_address) as addresses,
                  coalesce(bool_or(client_address = $6), false) as is_counted
                from sign_ins where workspace_id = $1 and counted_hour = c.hour) a
            on conflict (workspace_id, counted_hour, client_address, kind, method) where counted_hour is not null
            do update set attempts = sign_ins.attempts + 1, email = excluded.email`,
          values: [
            workspace_ids[0],
            newId(),
            // A limit that was reached is one more refused attempt.
            kind === 'locked' ? 'wrong' : kind,
            method,
            email,
            addressBlock(client_address ?? ''),
          ],
        }
      : {
          name: 'insert_sign_in',
          text: `insert into sign_ins (workspace_id, sign_in_id, kind, method, email, user_id, client_address, created_at)
            select w.workspace_id, w.sign_in_id, $3, $4, $5, $6, w.client_address, clock_timestamp()
            from unnest($1::text[], $2::text[], $7::text[]) as w(workspace_id, sign_in_id, client_address)`,
          values: [
            workspace_ids,
            workspace_ids.map(() => newId()),
            kind,
            method,
            email,
            user_id,
            found.rows.map(({ is_pending }) => (is_pending ? null : client_address)),
          ],
        },
  );
}

/**
 * Uses up a sign-in through the identity provider by its `state`, for `minutes`. Returns false if it came back before.
 */
export async function useOidcState(db: Queryable, state: string, minutes: number): Promise<boolean> {
  const result = await db.query({
    name: 'use_oidc_state',
    text: `insert into used_oidc_states (state, expires_at)
      values ($1, clock_timestamp() + make_interval(mins => $2)) on conflict do nothing`,
    values: [state, minutes],
  });
  return result.rowCount === 1;
}

/** The most records that may wait to be written behind answers. */
const MAX_BEHIND = 1_000;

/** Does work after the answers, whose time then shows nothing of it. */
export interface DeferredRecords {
  /** Does `work` after what is being answered now. A failure is logged. */
  add(work: () => Promise<void>): void;
  /** Resolves once everything that was added so far is written. */
  settled(): Promise<void>;
}

/** Makes it. */
export function makeDeferredRecords(log: Logger): DeferredRecords {
  const behind = new Set<Promise<void>>();
  return {
    add(work) {
      if (behind.size >= MAX_BEHIND) {
        log.error('work after an answer of the sign-in was dropped: too much is waiting');
        return;
      }
      const written = new Promise((resolve) => setImmediate(resolve))
        .then(work)
        .catch((error: unknown) => log.error({ err: error }, 'work after an answer of the sign-in failed'))
        .finally(() => behind.delete(written));
      behind.add(written);
    },
    async settled() {
      await Promise.all(behind);
    },
  };
}

/** Returns a page of sign-ins, newest first: all, or with `of_members` only those that do or do not name a member. */
export async function listSignIns(
  db: Queryable,
  workspace_id: string,
  page: { after: string | null; limit: number; of_members: boolean | null },
): Promise<ListedSignIn[]> {
  const result = await db.query<ListedSignIn & { workspace_id: string }>({
    name: 'list_sign_ins',
    text: `select sign_in_id, kind, method, email, user_id, client_address, created_at, attempts from sign_ins
      where workspace_id = $1 and ($2::text is null or sign_in_id < $2)
        and ($4::boolean is null or (user_id is not null) = $4) order by sign_in_id desc limit $3`,
    values: [workspace_id, page.after, page.limit, page.of_members],
  });
  return result.rows;
}
