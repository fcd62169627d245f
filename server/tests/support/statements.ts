import pg from 'pg';
import { placeOf } from '../../src/engine/citus/local-tables.ts';
import { forOneWorkspace } from '../../src/engine/citus/one-workspace.ts';

/** Calls `note` with the text of every statement that this process sends, and its connection. Returns how to end that. */
function watchStatements(note: (text: string, client: pg.Client) => void): () => void {
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function capture(this: pg.Client, ...given: unknown[]) {
    const [config] = given as [string | { text?: string }];
    const text = typeof config === 'string' ? config : config?.text;
    if (text !== undefined) note(text, this);
    return (query as (...all: unknown[]) => unknown).apply(this, given);
  } as never;
  return () => {
    pg.Client.prototype.query = query;
  };
}

/** Records the text of every statement that this process sends, until `stop`. */
export function recordStatements(): { texts: ReadonlySet<string>; stop(): void } {
  const texts = new Set<string>();
  return { texts, stop: watchStatements((text) => texts.add(text)) };
}

/**
 * Records the statements of each batch of the lane, from its `begin` to its `commit`, until `stop`: of those that store
 * decisions in `decisions`, of others in `others`.
 */
export function recordBatches(): { decisions: string[][]; others: string[][]; stop(): void } {
  const open = new Map<pg.Client, string[]>();
  const decisions: string[][] = [];
  const others: string[][] = [];
  const stop = watchStatements((text, client) => {
    if (text === 'begin') open.set(client, []);
    const batch = open.get(client);
    batch?.push(text);
    if (text !== 'commit' || batch === undefined) return;
    open.delete(client);
    if (batch.some((each) => /\binsert into decisions\b/.test(each))) decisions.push(batch);
    else if (batch.some((each) => /\bupdate ledger_heads\b/.test(each))) others.push(batch);
  });
  return { decisions, others, stop };
}

/** Returns the tables that the workers of Citus hold. */
export async function distributedTables(client: Pick<pg.Client, 'query'>): Promise<Set<string>> {
  const found = await client.query<{ name: string }>(
    "select relname::text as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'",
  );
  return new Set(found.rows.flatMap(({ name }) => (placeOf(name) === 'distributed' ? name : [])));
}

/**
 * How statements begin that look over all workspaces: what workers find and prune, what is counted for metrics and readiness,
 * leases of Slack connections, and which workspace a key belongs to. The look-up of keys by their digests is that of plain PostgreSQL.
 */
const OVER_ALL = [
  'select max(h.time_ms)',
  'select s.follower, count(',
  'select count(workspace_id)',
  'select count(c.workspace_id)',
  'select q.workspace_id, q.endpoint_id, q.due_at from webhook_queues',
  'select h.workspace_id from ledger_heads',
  'select h.workspace_id, h.seq, h.hash, h.time_ms',
  'select h.workspace_id, h.agent_id, h.expires_at',
  'select workspace_id from known_merchants_to_fill',
  'select workspace_id, principal_id from api_keys where key_id = $1',
  'select e.workspace_id, min(e.created_at)',
  'with gone as ( delete from slack_connections',
  'select workspace_id, counter_id, subject, slot from counters',
  'delete from webhook_attempts where (workspace_id, attempt_id) in (',
  'delete from webhook_deliveries where (workspace_id, endpoint_id, due_at, event_id) in (',
  'delete from webhook_events where (workspace_id, event_id) in (',
  'delete from notices where (workspace_id, notice_id) in (',
];
const KEYS_BY_DIGEST = /^select k\.workspace_id, k\.key_id.* from api_key_digests d join api_keys /;

/** Returns whether a statement is meant for all workspaces together. */
function isOverAll(text: string): boolean {
  const plain = text.replaceAll(/\s+/g, ' ').trim();
  return KEYS_BY_DIGEST.test(plain) || OVER_ALL.some((beginning) => plain.startsWith(beginning));
}

/**
 * Returns whether Citus sends a statement to one shard: in the text that it gets, at least as many comparisons with the id of the
 * workspace as tables of the workers. A statement that is joined from others is sent on plain PostgreSQL alone.
 */
export function isOneTask(text: string, distributed: ReadonlySet<string>): boolean {
  if (text.startsWith('with w0 as')) return true;
  const sent = forOneWorkspace(text)?.text ?? text;
  const tables = [...sent.matchAll(/\b(?:from|join|update|using)\s+(\w+)/g)].filter(([, name = '']) =>
    distributed.has(name),
  );
  return [...sent.matchAll(/\bworkspace_id = \$\d+/g)].length >= tables.length;
}

/** Returns the statements of the service that Citus would send to more than one shard, though they are of one workspace. */
export async function ofSeveralTasks(
  texts: ReadonlySet<string>,
  client: Pick<pg.Client, 'query'>,
): Promise<string[]> {
  const distributed = await distributedTables(client);
  const of_service = [...texts].filter((text) => /^\s*(?:select|insert|update|delete|with)\b/.test(text));
  if (of_service.length < 100) throw new Error(`only ${of_service.length} statements were sent`);
  return of_service.filter((text) => !isOverAll(text) && !isOneTask(text, distributed));
}
