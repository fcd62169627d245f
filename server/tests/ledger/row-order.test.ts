import { expect } from 'vitest';
import { AUTHORITY, freshKey, spend } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const { test, s } = serviceTest();

test('a whole history verifies in whatever order its rows lie on disk', async () => {
  // Several connections add rows, each where it finds room, so that tables are not in the order of the chain.
  await s.call('POST', '/v1/agents', { body: { slug: 'a', mode: 'ENFORCE', authority: AUTHORITY } });
  for (const status of ['paused', 'active', 'paused', 'active']) {
    expect((await s.call('PATCH', '/v1/agents/a', { body: { status } })).status).toBe(200);
  }
  for (let i = 0; i < 5; i++) {
    const reply = await s.call('POST', '/v1/decisions', {
      body: spend('a', 10),
      idempotency_key: freshKey(),
    });
    const path = `/v1/decisions/${reply.body.decision_id}`;
    await s.call('POST', `${path}/labels`, { body: { label: 'PURPOSE_ALIGNED' } });
    await s.call('POST', `${path}/outcomes`, { body: { type: 'SPEND_EXECUTED', amount_minor: 10 } });
    await s.call('POST', `${path}/outcomes`, { body: { type: 'REFUNDED' } });
  }
  const { rows } = await s.sql(
    `select c.relname as name, string_agg(a.attname, ' desc, ' order by array_position(i.indkey, a.attnum)) as key
      from pg_class c join pg_index i on i.indrelid = c.oid and i.indisprimary
        join pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey)
      where c.relnamespace = 'public'::regnamespace and c.relname <> 'schema_migrations' group by 1`,
  );
  for (const { name, key } of rows) {
    await s.sql(`begin; create temp table kept on commit drop as table ${name}; delete from ${name};
      insert into ${name} select * from kept order by ${key} desc; commit; analyze ${name}`);
  }
  expect(rows.length).toBeGreaterThan(15);
  const { body } = await s.call('GET', '/v1/ledger/verify');
  expect([body.valid, body.breaks]).toEqual([true, []]);
});
