import { scopesOfRole } from '@purser/contract/values/scopes';
import { SYSTEM } from '@purser/rules/domain/audit';
import type { Caller } from '@purser/rules/domain/keys';
import { nextDigestMs } from '@purser/rules/notices/people';
import type { SummedRequests } from '@purser/rules/notices/text';
import type pg from 'pg';
import { sendDigest } from '../../engine/commands/notices/send-digest.ts';
import type { Lane } from '../../engine/lane/lane.ts';
import { advanceDigest, type DueDigest, listDueDigests } from '../../engine/storage/notices/people.ts';
import { listPendingReviews } from '../../engine/storage/reviewing/inbox.ts';
import { readClock } from '../../engine/storage/workspaces.ts';
import { presentRows } from '../reviews/inbox.ts';

const AT_ONCE = 50;
const PAGE = 200;
/** A digest counts at most this many requests. */
const MAX_PAGES = 10;
const ORIGIN = { actor: SYSTEM, request_id: null, client_address: null };

/** The member as a caller of the API, who is shown what they may decide. */
function callerOf(
  user_id: string,
  { workspace_id, principal_id, role }: DueDigest['workspaces'][number],
): Caller {
  return {
    workspace_id,
    key_id: null,
    session: { session_id: '', user_id, credential_epoch: 0, role, is_proof_fresh: false },
    kind: 'custom',
    scopes: scopesOfRole(role),
    agent_id: null,
    principal_id,
  };
}

/** Adds up the pending requests that a member may decide; null where there are none. */
async function sumOf(db: pg.Pool, caller: Caller): Promise<SummedRequests | null> {
  const agents = new Set<string>();
  const amounts = new Map<string, number>();
  let count = 0;
  let expires_at: string | null = null;
  let after: Parameters<typeof listPendingReviews>[3]['after'] = null;
  for (let page = 0; page < MAX_PAGES; page++) {
    const { rows, next } = await listPendingReviews(
      db,
      caller.workspace_id,
      {},
      { sort: 'expires', after, limit: PAGE },
    );
    for (const row of await presentRows(db, caller, rows)) {
      if (!row.may_allow) continue;
      count += 1;
      agents.add(row.agent.slug);
      amounts.set(row.currency, (amounts.get(row.currency) ?? 0) + row.amount_minor);
      expires_at ??= row.expires_at;
    }
    if (next === null) break;
    after = next;
  }
  if (count === 0) return null;
  return {
    count,
    agents: [...agents].sort(),
    amounts: [...amounts].sort().map(([currency, amount_minor]) => ({ currency, amount_minor })),
    expires_at,
  };
}

/**
 * Makes the round of the worker that sends digests: at 08:00 in each person's time zone, one for each workspace in which
 * requests wait for them. Any number of processes may run it: the lane makes the digest of a moment once.
 */
export function makeSendDigests({ db, lane }: { db: pg.Pool; lane: Lane }): () => Promise<void> {
  async function send(digest: DueDigest): Promise<void> {
    const { user_id, due_at, time_zone, workspaces } = digest;
    for (const membership of workspaces) {
      const { workspace_id, principal_id } = membership;
      const summed = await sumOf(db, callerOf(user_id, membership));
      if (summed === null) continue;
      const person = { recipient_id: user_id, name: principal_id, filter: null, quiet_hours: null };
      await lane.submit(workspace_id, sendDigest, { person, due_at, summed }, ORIGIN);
    }
    const next_ms = nextDigestMs(time_zone, await readClock(db));
    await advanceDigest(db, digest, new Date(next_ms).toISOString());
  }

  return async () => {
    for (;;) {
      const due = await listDueDigests(db, AT_ONCE);
      for (const digest of due) await send(digest);
      if (due.length < AT_ONCE) return;
    }
  };
}
