import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { until } from '../../server/tests/support/until.ts';
import { type FakeProvider, startFakeProvider } from './support/fake-provider.ts';
import { type ServedPurser, serveFakePurser } from './support/fake-purser.ts';
import { ask, calling } from './support/gateway.ts';
import { type GatewayProcess, processEnvironmentOf, spawnGateway } from './support/gateway-process.ts';

let provider: FakeProvider;
let purser: ServedPurser;
let directory: string;
const started: GatewayProcess[] = [];

beforeEach(async () => {
  provider = await startFakeProvider();
  purser = await serveFakePurser({ monthly_budget_minor: 1000 });
  directory = mkdtempSync(join(tmpdir(), 'purser-gateway-'));
});
afterEach(async () => {
  for (const each of started.splice(0)) await each.kill('SIGKILL');
  await purser.stop();
  await provider.stop();
  rmSync(directory, { recursive: true, force: true });
});

async function start(env: Record<string, string> = {}): Promise<GatewayProcess> {
  const gateway = await spawnGateway(
    processEnvironmentOf(purser.url, provider.url, directory, { LEASE_IDLE_SECONDS: '600', ...env }),
  );
  started.push(gateway);
  return gateway;
}

const journal = () => join(directory, 'journal.jsonl');
const records = () =>
  readFileSync(journal(), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

/** One finished call, and one that is in flight when the gateway is killed. */
async function killInFlight(): Promise<void> {
  const gateway = await start();
  const done = await ask(
    gateway.url,
    '/v1/chat/completions',
    calling({ output: 3000 }, { max_tokens: 3000 }),
  );
  expect(done.status, done.text).toBe(200);
  const held = ask(
    gateway.url,
    '/v1/messages',
    calling({ output: 10, holds: true }, { max_tokens: 4000 }),
  ).catch(() => {});
  await until(() => provider.calls.length === 2);
  await gateway.kill('SIGKILL');
  provider.release();
  await held;
}

const executed = () =>
  purser.fake.outcomes.reduce(
    (sum, { type, amount_minor }) => sum + (type === 'SPEND_EXECUTED' ? (amount_minor ?? 0) : 0),
    0,
  );
const isSettled = () => purser.isSettled();

test('a killed gateway reports finished calls exactly and others at their worst case', async () => {
  await killInFlight();
  const units = records().reduce((sum, { t, amount }) => sum + (t === 'settle' ? Number(amount) : 0), 0);
  const [, worst] = records().filter(({ t }) => t === 'reserve');
  expect(purser.fake.outcomes).toEqual([]);
  const gateway = await start();
  await until(isSettled);
  // Each provider has a purse of its own.
  expect(executed()).toBe(Math.ceil(units / 1e9) + Math.ceil(Number(worst.amount) / 1e9));
  expect(purser.fake.outcomes.every(({ source }) => source === 'PAYMENT_RAIL')).toBe(true);
  // The names of its leases go on.
  const before = purser.fake.decisions.length;
  const call = await ask(gateway.url, '/v1/chat/completions', calling({ output: 1 }, { max_tokens: 9 }));
  expect(call.status, call.text).toBe(200);
  expect(purser.fake.decisions.length).toBe(before + 1);
  expect(await gateway.kill('SIGTERM')).toBe(0);
});

test('a call that was not on its way when the gateway was killed costs nothing', async () => {
  // A server that never answers the handshake of TLS: the call has its money and waits for its connection.
  const connected = new Set<Socket>();
  const silent = createServer((socket) => void connected.add(socket));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const url = `https://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  try {
    const gateway = await start({ OPENAI_UPSTREAM: url });
    const call = calling({ output: 3000 }, { max_tokens: 3000 });
    const lost = ask(gateway.url, '/v1/chat/completions', call).catch(() => {});
    await until(() => connected.size > 0);
    expect(purser.counted()).toBe(4);
    await gateway.kill('SIGKILL');
    await lost;
    await start();
    await until(isSettled);
    expect(purser.fake.outcomes.map(({ type }) => type)).toEqual(['SPEND_CANCELLED']);
    expect(purser.counted()).toBe(0);
  } finally {
    for (const socket of connected) socket.destroy();
    silent.close();
  }
});

test.each<[string, () => void]>([
  [
    'the machine was started again',
    () =>
      writeFileSync(
        journal(),
        readFileSync(journal(), 'utf8').replace(/"boot_id":"[^"]*"/, '"boot_id":"other"'),
      ),
  ],
  [
    'a line is damaged',
    () => writeFileSync(journal(), readFileSync(journal(), 'utf8').replace('"t":"settle"', '"t":"settl')),
  ],
  ['the last line is a part of one', () => appendFileSync(journal(), '{"t":"settle"')],
  [
    'the first line is gone',
    () => writeFileSync(journal(), readFileSync(journal(), 'utf8').replace(/^.*\n/, '')),
  ],
])('where lines may be missing, open leases count whole: %s', async (_, damage) => {
  await killInFlight();
  const leased = purser.fake.decisions.reduce((sum, { reservation }) => sum + reservation.amount_minor, 0);
  damage();
  await start();
  await until(isSettled);
  expect(executed()).toBe(leased);
});

test('a lease that a killed gateway asked for without having the answer is cancelled once its key is used again', async () => {
  const gateway = await start();
  let is_decided = () => {};
  const decided = new Promise<void>((resolve) => {
    is_decided = resolve;
  });
  // The service decides, and its answer is lost with the gateway.
  purser.after = (path) => {
    if (path !== '/v1/decisions') return;
    is_decided();
    throw new Error('lost');
  };
  const call = (url: string) =>
    ask(url, '/v1/chat/completions', calling({ output: 3000 }, { max_tokens: 3000 }));
  const lost = call(gateway.url).catch(() => {});
  await decided;
  await gateway.kill('SIGKILL');
  await lost;
  purser.after = () => {};
  const [asked] = purser.fake.decisions;
  expect(purser.fake.decisions.map(({ reservation }) => reservation.status)).toEqual(['HELD']);

  const again = await start();
  const answer = await call(again.url);
  expect(answer.status, answer.text).toBe(200);
  expect(purser.fake.outcomes).toMatchObject([
    { decision_id: asked?.decision_id, type: 'SPEND_CANCELLED', source: 'PAYMENT_RAIL' },
  ]);
  // The name is not used for another lease.
  expect(purser.fake.decisions).toHaveLength(2);
  expect(records().filter(({ t }) => t === 'lease')).toHaveLength(1);
});

test('a second gateway does not start on a journal that is in use', async () => {
  const first = await start();
  await expect(start()).rejects.toThrow(
    /exit 1: purser-gateway: GATEWAY_DATA_DIR is ".*", and must be a directory that no other gateway uses/,
  );
  await first.kill('SIGKILL');
  await start();
});

test('a stopped gateway finishes its calls, reports, and exits with 0', async () => {
  const gateway = await start();
  const held = ask(
    gateway.url,
    '/v1/chat/completions',
    calling({ output: 5, holds: true }, { max_tokens: 9 }),
  );
  await until(() => provider.calls.length === 1);
  const gone = gateway.kill('SIGTERM');
  setTimeout(() => provider.release(), 100);
  expect((await held).status).toBe(200);
  expect(await gone).toBe(0);
  expect(isSettled()).toBe(true);
  expect(executed()).toBe(1);
});
