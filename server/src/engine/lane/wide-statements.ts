import type pg from 'pg';
import type { Client } from '../storage/database.ts';

/** A prepared statement as the writers of `storage` send it; its text follows from its name. */
interface Statement {
  name: string;
  text: string;
  values: unknown[];
}

/**
 * The statements that write a decision, by name: no two of them write the same table. Only these are joined, so that a
 * connection keeps no more than a few dozen plans.
 */
const JOINED = new Set([
  'write_decisions',
  'write_idempotency_keys',
  'write_decision_states',
  'write_expiring_holds',
  'write_budgets',
  'write_ledger_events',
  'write_heads',
]);

const joined = new Map<string, { name: string; text: string }>();

/** One statement that does what several do, each being a common table expression with parameters of its own. */
function join(statements: readonly Statement[]): Statement {
  const names = statements.map(({ name }) => name).join(' ');
  const values = statements.flatMap((each) => each.values);
  const known = joined.get(names);
  if (known !== undefined) return { ...known, values };
  let before = 0;
  const texts = statements.map((each) => {
    const text = each.text.replaceAll(/\$(\d+)/g, (_, n: string) => `$${Number(n) + before}`);
    before += each.values.length;
    return text;
  });
  const last = texts.pop();
  const made = {
    name: `write_wide_${joined.size}`,
    text: `with ${texts.map((text, i) => `w${i} as (${text})`).join(', ')} ${last}`,
  };
  joined.set(names, made);
  return { ...made, values };
}

/**
 * Sends the statements that `write` issues on the client it is given: those of a decision as one, behind all others in
 * their order. PostgreSQL and the driver then handle one statement instead of five. `write` must issue all of them at once;
 * one that comes later fails the batch. Returns when each was answered, without the answers.
 */
export function sendWide(
  client: Client,
  is_joining: boolean,
  write: (client: Client) => Promise<unknown>[],
): Promise<unknown>[] {
  const apart: Statement[] = [];
  const together: Statement[] = [];
  let is_open = true;
  const query = (statement: Statement) => {
    if (!is_open) return Promise.reject(new Error(`${statement.name} came after the batch was sent`));
    (is_joining && JOINED.has(statement.name) ? together : apart).push(statement);
    return Promise.resolve();
  };
  const issued = write({ query } as unknown as Client);
  is_open = false;
  const all = together.length > 1 ? [...apart, join(together)] : [...apart, ...together];
  return [...issued, ...all.map((statement) => client.query(statement as pg.QueryConfig))];
}
