import type pg from 'pg';
import { writeOnCitus } from '../one-task/one-update.ts';
import type { Client } from '../storage/database.ts';
import { type CountedStatement, numberedAfter } from '../storage/rows.ts';

/** A prepared statement as the writers of `storage` send it; its text follows from its name. */
interface Statement {
  name: string;
  text: string;
  values: unknown[];
}

/** A statement with the number of rows that it writes, if that is known. */
type Collected = Statement & Partial<Pick<CountedStatement, 'writes'>>;

const isCounted = ({ writes }: Collected) => typeof writes === 'number';

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
  'write_questions',
  'write_question_events',
  'write_ledger_events',
  'write_heads',
]);

const joined = new Map<string, { name: string; text: string }>();

/**
 * The text of a statement that does what several do, each being a common table expression with parameters of its own, and
 * that fails where one of them wrote another number of rows than it was sent: the cast of the sentence that says so is the
 * error. So the commit can be sent behind it without waiting for an answer.
 */
function joinTexts(statements: readonly Collected[]): string {
  let before = 0;
  const checks: string[] = [];
  const tables = statements.map((each, i) => {
    const text = numberedAfter(before, each.text);
    before += each.values.length;
    if (!isCounted(each)) return `w${i} as (${text})`;
    before += 1;
    checks.push(`('${each.name}', (select count(*) from w${i}), $${before}::bigint)`);
    return `w${i} as (${text} returning 1)`;
  });
  return `with ${tables.join(', ')} select (c.name || ' wrote ' || c.written || ' of ' || c.sent || ' rows')::integer
    from (values ${checks.join(', ')}) as c(name, written, sent) where c.written <> c.sent`;
}

/** One statement that does what several do and checks how many rows each wrote. */
function join(statements: readonly Collected[]): Statement {
  const names = statements.map(({ name }) => name).join(' ');
  const values = statements.flatMap((each) =>
    isCounted(each) ? [...each.values, each.writes] : each.values,
  );
  const known = joined.get(names);
  if (known !== undefined) return { values, ...known };
  const name = statements.length === 1 ? `${names}_counted` : `write_wide_${joined.size}`;
  const made = { name, text: joinTexts(statements) };
  joined.set(names, made);
  return { values, ...made };
}

/**
 * Sends the statements that `write` issues on the client it is given: those of a decision as one, behind all others in
 * their order. PostgreSQL and the driver then handle one statement instead of five. `write` must issue all of them at once;
 * one that comes later fails the batch. One that writes another number of rows than it was sent fails too: with
 * `is_joining` in the database, so that no commit behind it succeeds, else in its answer, for which a commit must wait.
 * Returns when each was answered, without the answers.
 */
export function sendWide(
  client: Client,
  is_joining: boolean,
  write: (client: Client) => Promise<unknown>[],
): Promise<unknown>[] {
  const apart: Collected[] = [];
  const together: Collected[] = [];
  let is_open = true;
  const query = (statement: Collected) => {
    if (!is_open) return Promise.reject(new Error(`${statement.name} came after the batch was sent`));
    (is_joining && JOINED.has(statement.name) ? together : apart).push(statement);
    return Promise.resolve();
  };
  const issued = write({ query } as unknown as Client);
  is_open = false;
  if (!is_joining)
    return [
      ...issued,
      ...writeOnCitus(
        client,
        apart.map((statement) => ({ writes: null, ...statement })),
      ),
    ];
  const send = (statement: Collected) =>
    client.query((isCounted(statement) ? join([statement]) : statement) as pg.QueryConfig);
  const all = apart.map(send);
  if (together.length > 0) all.push(client.query(join(together) as pg.QueryConfig));
  return [...issued, ...all];
}
