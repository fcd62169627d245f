import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { startFakeProvider } from '../../../gateway/tests/support/fake-provider.ts';
import { ask, calling, environmentOf } from '../../../gateway/tests/support/gateway.ts';
import { type Started, test } from '../support/program.ts';
import { AUTHORITY } from '../support/running-service.ts';
import { takesMinutes, until } from '../support/until.ts';

takesMinutes(5);

const ADMIN = `sk_${'g'.repeat(24)}`;
const settings = (data_dir: string, provider_url: string, directory: string) => {
  const {
    PURSER_ADAPTER_KEY: _made,
    GATEWAY_DATA_DIR: _default,
    ...env
  } = environmentOf('http://127.0.0.1:1', provider_url, directory);
  return { ...env, GATEWAY_PORT: '0', DATA_DIR: data_dir, BOOTSTRAP_ADMIN_KEY: ADMIN };
};

async function api(url: string, method: string, path: string, body?: unknown) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { 'x-api-key': ADMIN, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

const modelsOf = async ({ url, output }: Started) => {
  await url;
  return (await until(() => / {2}Models {6}(\S+)\n/.exec(output())))[1] as string;
};
const keysOf = async (url: string) =>
  (await api(url, 'GET', '/v1/api-keys?limit=100')).data.filter(
    ({ name }: { name: string }) => name === 'Gateway beside the service',
  );

/** The process of the gateway that a service started. */
function gatewayBelow(parent: number | undefined): number | undefined {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .find((pid) => {
      try {
        const of = /^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
        return of === String(parent) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('gateway');
      } catch {
        return false;
      }
    });
}

async function end(started: Started): Promise<number | null> {
  started.child.kill('SIGTERM');
  return (await started.ended).code;
}

// Each start of a whole service takes seconds, so all of them share one directory, the first one making its database.
test('one command starts the service and a gateway, which makes its own key once, reports its leases, and ends with the service; a gateway that cannot work ends the start with one line that says why', async ({
  run,
  emptyDirectory,
}) => {
  const provider = await startFakeProvider();
  const data_dir = emptyDirectory();
  const env = settings(data_dir, provider.url, emptyDirectory());
  try {
    const first = run(['serve'], env);
    const url = await first.url;
    const models = await modelsOf(first);
    expect((await fetch(`${models}/readyz`)).status).toBe(200);
    const key_file = join(data_dir, 'gateway-key');
    expect(statSync(key_file).mode & 0o777).toBe(0o600);
    const [made, ...others] = await keysOf(url);
    expect(others).toEqual([]);
    expect(made).toMatchObject({ scopes: ['consume'], status: 'active', created_by: { type: 'system' } });

    const authority = { ...AUTHORITY, currency: 'USD', monthly_budget_minor: 100, model_usage: {} };
    const { id } = await api(url, 'POST', '/v1/agents', { slug: 'caller', authority, mode: 'ENFORCE' });
    const { key } = await api(url, 'POST', '/v1/api-keys', { name: 'caller', agent_id: id });
    const chat = (at: string) =>
      ask(at, '/v1/chat/completions', calling({ output: 30 }, { max_tokens: 100 }), { key });
    const answer = await chat(models);
    expect(answer.status, answer.text).toBe(200);

    // The gateway is killed: another one listens at the same address.
    process.kill(gatewayBelow(first.child.pid) as number, 'SIGKILL');
    await until(async () => (await chat(models).catch(() => null))?.status === 200);
    expect(await end(first), first.output()).toBe(0);

    const failed = await run(['serve'], { ...env, PRICES_FILE: '/nowhere' }).ended;
    expect([failed.code, failed.stderr]).toEqual([
      1,
      'purser: PRICES_FILE is "/nowhere", and must be the path of a file that can be read.\n',
    ]);

    const second = run(['serve'], env);
    const again = await second.url;
    await modelsOf(second);
    expect((await keysOf(again)).map((each: { id: string }) => each.id)).toEqual([made.id]);
    const leases = (await api(again, 'GET', '/v1/decisions?limit=100')).data;
    expect(leases.length).toBeGreaterThan(0);
    for (const { reservation } of leases) expect(reservation.status).not.toBe('HELD');
    const gateway = gatewayBelow(second.child.pid) as number;
    second.child.kill('SIGKILL');
    await second.ended;
    await until(() => {
      try {
        process.kill(gateway, 0);
        return false;
      } catch {
        return true;
      }
    });
  } finally {
    await provider.stop();
  }
});
