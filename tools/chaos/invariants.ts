import pg from 'pg';
import type { JsonClient } from '../demo/json-client.ts';
import type { Recorder } from './recorder.ts';

/** How to reach the database behind the service's back. */
export type DatabaseReader = pg.ClientConfig;

/** Runs one statement on a connection of its own. */
export async function queryOnce<R extends pg.QueryResultRow>(
  database: DatabaseReader,
  text: string,
  values: unknown[] = [],
): Promise<R[]> {
  const client = new pg.Client(database);
  await client.connect();
  try {
    return (await client.query<R>(text, values)).rows;
  } finally {
    await client.end();
  }
}

/**
 * What does not hold of what the clients were told: every acknowledged decision is kept, once; nothing is kept that
 * nobody asked for; each agent's counters are the sum of its holds; the chain is valid. Empty: all is well.
 */
export async function findViolations(
  recorder: Recorder,
  client: JsonClient,
  database: DatabaseReader,
): Promise<string[]> {
  const problems = [...(await recorder.resolveAll()), ...recorder.problems];
  const told = recorder.told();
  const kept = await queryOnce<{ decision_id: string; idempotency_key: string }>(
    database,
    'select decision_id, idempotency_key from idempotency_keys',
  );
  const by_key = new Map(kept.map((row) => [row.idempotency_key, row.decision_id]));
  for (const { key, decision_id } of told) {
    if (by_key.get(key) !== decision_id) problems.push(`${decision_id} was acknowledged and is not kept.`);
  }
  const events = await queryOnce<{ count: string }>(
    database,
    "select count(*) from ledger_events where type = 'decision.created'",
  );
  const decisions = await queryOnce<{ count: string }>(database, 'select count(*) from decisions');
  const counts = [kept.length, Number(events[0]?.count), Number(decisions[0]?.count)];
  if (new Set([...counts, told.length]).size !== 1) {
    problems.push(
      `${told.length} decisions were told of; kept are ${counts[2]}, with ${counts[0]} keys and ${counts[1]} events.`,
    );
  }
  const held = new Map<string, number>();
  for (const { agent, held_minor } of told) held.set(agent, (held.get(agent) ?? 0) + held_minor);
  const counters = await queryOnce<{ slug: string; held_minor: string }>(
    database,
    `select a.slug, sum(b.held_minor) as held_minor from budgets b
      join agents a on a.workspace_id = b.workspace_id and a.agent_id = b.agent_id group by a.slug`,
  );
  for (const { slug, held_minor } of counters) {
    if (Number(held_minor) !== (held.get(slug) ?? 0)) {
      problems.push(`The counter of ${slug} is ${held_minor}, its holds are ${held.get(slug) ?? 0}.`);
    }
  }
  problems.push(...(await missingInOutbox(database)));
  problems.push(...(await invalidChain(client)));
  return problems;
}

/** Where an endpoint wants to hear of decisions, each one is an event, and each event waits or was tried. */
async function missingInOutbox(database: DatabaseReader): Promise<string[]> {
  const [found] = await queryOnce<{ is_there: boolean }>(
    database,
    "select to_regclass('webhook_events') is not null as is_there",
  );
  if (found?.is_there !== true) return [];
  const [missing] = await queryOnce<{ untold: string; unsent: string }>(
    database,
    `select
      (select count(*) from decisions d where exists (select from webhook_endpoints) and d.decision_id not in (
        select payload::json -> 'data' ->> 'decision_id' from webhook_events where type = 'decision.created')) as untold,
      (select count(*) from webhook_events where event_id not in (
        select event_id from webhook_deliveries union all select event_id from webhook_attempts)) as unsent`,
  );
  const { untold, unsent } = missing as { untold: string; unsent: string };
  return untold === '0' && unsent === '0'
    ? []
    : [`The outbox: ${untold} decisions are no event, ${unsent} events neither wait nor were tried.`];
}

/** Verifies the chain; empty: it is valid. */
export async function invalidChain(client: JsonClient): Promise<string[]> {
  const { status, body } = await client.send('GET', '/v1/ledger/verify');
  const { valid } = body as { valid?: boolean };
  return valid === true ? [] : [`The chain is not valid: ${status} ${JSON.stringify(body).slice(0, 500)}`];
}
