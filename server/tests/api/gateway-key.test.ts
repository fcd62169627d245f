import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { gatewayKey } from '../../src/service/gateway/adapter-key.ts';
import type { Core } from '../../src/service/installation/runtime.ts';
import { makeTestCore, type RunningService, startTestService } from '../support/running-service.ts';

let s: RunningService;
let core: Core;
const data_dir = mkdtempSync(join(tmpdir(), 'purser-gateway-key-'));
const file = join(data_dir, 'gateway-key');

beforeAll(async () => {
  s = await startTestService();
  core = makeTestCore(s.database.connection);
});
afterAll(async () => {
  await core.close();
  await s.stop();
  rmSync(data_dir, { recursive: true });
});

const keys = async () =>
  (await s.call('GET', '/v1/api-keys?limit=100')).body.data.filter(
    ({ name }: { name: string }) => name === 'Gateway beside the service',
  );

test('the key is made once in the only workspace, recorded, and kept where only the service reads it', async () => {
  const value = await gatewayKey(core, data_dir);
  expect(await gatewayKey(core, data_dir)).toBe(value);
  expect(readFileSync(file, 'utf8')).toBe(`${value}\n`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const [made, ...others] = await keys();
  expect(others).toEqual([]);
  expect(made).toMatchObject({ scopes: ['consume'], status: 'active', created_by: { type: 'system' } });
  expect((await s.call('GET', '/v1/api-keys/current', { key: value })).body.id).toBe(made.id);
  const audit = (await s.call('GET', '/v1/audit?action=api_key.created&limit=10')).body.data;
  expect(audit.map(({ target }: { target: { id: string } }) => target.id)).toContain(made.id);
});

test('a start that was cut off after the file is finished by the next one', async () => {
  const [first] = await keys();
  await s.call('DELETE', `/v1/api-keys/${first.id}`);
  const value = `sk_${'a'.repeat(38)}`;
  writeFileSync(file, `${value}\n`);
  expect(await gatewayKey(core, data_dir)).toBe(value);
  expect((await s.call('GET', '/v1/api-keys/current', { key: value })).status).toBe(200);
});

test('a revoked key is not replaced behind the back of who revoked it', async () => {
  const [newest] = (await keys()).filter(({ status }: { status: string }) => status === 'active');
  await s.call('DELETE', `/v1/api-keys/${newest.id}`);
  await expect(gatewayKey(core, data_dir)).rejects.toThrow(
    `PURSER_ADAPTER_KEY is unset, and the gateway's own key in ${file} was revoked. Remove the file for a new key, or set PURSER_ADAPTER_KEY.`,
  );
});

test('a damaged file, and a second workspace, are said to the operator', async () => {
  writeFileSync(file, 'x\n');
  await expect(gatewayKey(core, data_dir)).rejects.toThrow(`The gateway's key ${file} is damaged.`);
  rmSync(file);
  await s.addWorkspace({ plan: 'team' });
  await expect(gatewayKey(core, data_dir)).rejects.toThrow(
    'PURSER_ADAPTER_KEY is unset, but must be a key with the scope consume when GATEWAY_PORT is set and there is more than one workspace.',
  );
});
