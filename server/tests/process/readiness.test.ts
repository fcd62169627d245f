import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { freshKey, spend } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import { until } from '../support/until.ts';

const { test, s, makeAgent, ask } = serviceTest({});
const DEPLOY = fileURLToPath(new URL('../../../deploy/', import.meta.url));
const ready = async () => (await s.call('GET', '/readyz', { key: null })).status;
const metrics = async () => (await s.call('GET', '/metrics', { key: null })).text;

test('every metric that alerts and dashboard name has a value on a fresh service', async () => {
  const told = new Set([...(await metrics()).matchAll(/^([a-z0-9_]+)(?:\{| )/gm)].map(([, name]) => name));
  const named = ['prometheus/purser.rules.yml', 'grafana/purser.json'].flatMap((name) => {
    const text = readFileSync(`${DEPLOY}${name}`, 'utf8');
    return [...text.matchAll(/"?expr"?: (.+(?:\n {10}.+)*)/g)].flatMap(([, expr]) => [
      ...(expr as string).matchAll(/\b(?:purser|nodejs|process)_[a-z0-9_]+/g),
    ]);
  });
  const names = new Set(named.map(([name]) => name));
  expect(names.size).toBeGreaterThan(20);
  // A request, a workspace and a model are named by label once there is one.
  const by_request =
    /^purser_(http_request_duration_seconds|purpose_model_(call_duration_seconds|cost_total)|database_node_up)/;
  expect([...names].filter((name) => !told.has(name) && !by_request.test(name))).toEqual([]);
});

test('readiness names the engine of the database', async () => {
  const { body } = await s.call('GET', '/readyz', { key: null });
  expect(body.detail.database).toEqual({ engine: 'postgres', nodes: [] });
});

/** Imitates a failover to a standby that is not promoted yet: the service gets only new, read-only connections. */
async function setReadOnly(is_read_only: boolean): Promise<void> {
  await s.sql(
    `alter database ${s.database.connection.database} set default_transaction_read_only = ${is_read_only}`,
  );
  await s.sql(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and application_name = 'purser'`,
  );
}

test('readiness is 503 while writes fail, ready again by itself once they succeed, and the failures are counted', async () => {
  const slug = await makeAgent();
  await ask(slug, 100);
  expect(await ready()).toBe(200);
  await setReadOnly(true);
  const decide = () =>
    s.call('POST', '/v1/decisions', { body: spend(slug, 100), idempotency_key: freshKey() });
  await until(async () => {
    expect((await decide()).status).toBe(503);
    return (await ready()) === 503;
  });
  expect(await metrics()).toMatch(/^purser_lane_failures_total\{sqlstate_class="25"\} [1-9]/m);
  // Nobody writes from here on: the probe alone finds out.
  await setReadOnly(false);
  await until(async () => (await ready()) === 200);
  await ask(slug, 100);
});
