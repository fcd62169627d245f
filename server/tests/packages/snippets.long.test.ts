import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import { serveScriptedModel } from '../../../agents/tests/claude/scripted-model.ts';
import { SNIPPETS } from '../../../console/src/lib/samples/snippets.ts';
import { AUTHORITY, makeKey } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(10);
const { test, s, post } = serviceTest({ plan: 'enterprise' });
const run = promisify(execFile);

/** The console's code in this language, and its installation as a shell runs it. */
async function snippetOf(language: string) {
  const agent = await post('/v1/agents', {
    slug: `agent-${language.replace(' ', '-').toLowerCase()}`,
    authority: AUTHORITY,
  });
  const { key } = await makeKey(s, { agent_id: agent.id });
  const { data } = (await s.call('GET', '/packages/', { key: null })).body as {
    data: { name: string; url: string }[];
  };
  const packages = new Map(data.map(({ name, url }) => [name, url]));
  const request = {
    type: 'purchase',
    merchant: 'Hetzner Online',
    amount_minor: 1_000,
    currency: 'EUR',
    description: 'A server for staging',
  };
  const snippet = SNIPPETS.find(({ name }) => name === language);
  const of = { url: s.url, key, request, packages };
  return { code: snippet?.code(of) ?? '', install: snippet?.install?.(of) ?? '' };
}

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'purser-snippet-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Nothing of the machine's own settings, but npm's. */
const environment = (folder: string) => ({
  PATH: process.env.PATH,
  HOME: folder,
  npm_config_userconfig: join(homedir(), '.npmrc'),
  npm_config_cache: join(homedir(), '.npm'),
});

test('the TypeScript snippet runs in an empty folder after its installation from the service', async () => {
  const folder = await emptyFolder();
  const { code, install } = await snippetOf('TypeScript');
  expect(install).toBe(`npm install ${s.url}/packages/purser-sdk-0.1.0.tgz`);
  const env = environment(folder);
  await run('bash', ['-ec', install], { cwd: folder, env });
  await writeFile(join(folder, 'first.mjs'), code);
  const { stdout } = await run(process.execPath, ['first.mjs'], { cwd: folder, env });
  expect(stdout).toMatch(/^ALLOW /);
});

test('the snippet of the Claude hook runs in an empty folder, before a scripted model', async () => {
  const folder = await emptyFolder();
  const { code, install } = await snippetOf('Claude hook');
  await run('bash', ['-ec', install], { cwd: folder, env: environment(folder) });
  await writeFile(join(folder, 'agent.mjs'), code);
  const order = JSON.parse(/Buy this with the tool: (\{.*\})"/.exec(code)?.[1]?.replaceAll('\\"', '"') ?? '');
  const orders = [order];
  const model = await serveScriptedModel(async () => orders.shift() ?? null);
  onTestFinished(() => model.close());
  const { stdout } = await run(process.execPath, ['agent.mjs'], { cwd: folder, env: model.env });
  expect(stdout).toBe('Paid Hetzner Online\ndone\n');
  const { data } = (await s.call('GET', '/v1/decisions?agent=agent-claude-hook')).body as {
    data: { decision: string }[];
  };
  expect(data).toEqual([expect.objectContaining({ decision: 'ALLOW' })]);
});
