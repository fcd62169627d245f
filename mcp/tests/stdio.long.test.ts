import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { CallToolResult, ClientOptions } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect } from 'vitest';
import { takesMinutes } from '../../server/tests/support/until.ts';
import { CAPABILITY_META } from '../src/index.ts';
import {
  connect,
  ERAS,
  type Era,
  makeAgent,
  makeKey,
  mcpTest,
  purchase,
  refused,
  startTestService,
  use,
} from './world.ts';

takesMinutes(10);

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const { test, s } = mcpTest();

const environment = (more: Record<string, string> = {}) => ({
  PATH: process.env.PATH as string,
  PURSER_BASE_URL: s.url,
  ...more,
});

function connectStdio(
  key: string,
  era: Era = '2026-07-28',
  args: string[] = [],
  options: ClientOptions = {},
) {
  const env = environment({ PURSER_API_KEY: key });
  const transport = new StdioClientTransport({ command: process.execPath, args: [MAIN, ...args], env });
  return connect(era, transport, options);
}

/** Runs the program to its end, with nothing on its standard input. */
function run(
  args: string[],
  env: Record<string, string>,
): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, [MAIN, ...args], { env, stdio: ['pipe', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, out, err })));
}

test.each(Object.keys(ERAS) as Era[])(
  '%s: an agent asks, waits and reports over standard input and output',
  async (era) => {
    const client = await connectStdio((await makeAgent(s)).key, era);
    expect((await client.listTools()).tools).toHaveLength(7);
    const asked = purchase('250.00');
    const { decision_id } = await use(client, 'request_spend', asked);
    const notes: unknown[] = [];
    const waited = await client.callTool(
      { name: 'wait_for_review', arguments: { decision_id } },
      {
        onprogress: (note) => {
          notes.push(note);
          if (notes.length > 1) return;
          const body = { action: 'ALLOW', reason_code: 'OK' };
          void s.call('POST', `/v1/decisions/${decision_id}/reviews`, { body });
        },
      },
    );
    expect(waited.structuredContent).toMatchObject({ status: 'ALLOWED', authorized_amount: '250.00' });
    expect(notes.length).toBeGreaterThan(0);
    expect(await use(client, 'report_outcome', { decision_id, outcome: 'FAILED' })).toMatchObject({
      outcome_state: 'FAILED',
    });
    expect((await use(client, 'request_spend', asked)).next_step).toContain('under a new name');
    expect(await refused(client, 'request_spend', { ...asked, agent: 'another' })).toContain(
      'agent is not a known field',
    );
    await client.close();
  },
);

test.each(Object.keys(ERAS) as Era[])('%s: a reviewer is asked before anything is allowed', async (era) => {
  const agent = await connectStdio((await makeAgent(s)).key);
  const { decision_id } = await use(agent, 'request_spend', purchase('250.00'));
  await agent.close();
  const reviewer = (await makeKey(s, { scopes: ['review', 'read'] })).key;
  const client = await connectStdio(reviewer, era, [], { capabilities: { elicitation: { form: {} } } });
  const answers = [{ action: 'cancel' }, { action: 'accept', content: { allow: true } }];
  client.setRequestHandler('elicitation/create', async () => answers.shift() as never);
  const allow = { decision_id, action: 'ALLOW', reason_code: 'OK' };
  expect(await refused(client, 'review_spend', allow)).toContain('nothing was recorded');
  expect(await use(client, 'review_spend', allow)).toMatchObject({ effective_decision: 'ALLOW' });
  await client.close();
});

describe('the token of a capability', () => {
  const tokenOf = async (args: string[]) => {
    const agent = await makeAgent(s);
    const client = await connectStdio(agent.key, '2026-07-28', args);
    const result = (await client.callTool({
      name: 'request_spend',
      arguments: purchase('10'),
    })) as CallToolResult;
    await client.close();
    const { decision_id } = result.structuredContent as { decision_id: string };
    const { token } = (await s.call('GET', `/v1/decisions/${decision_id}`, { key: agent.key })).body
      .capability;
    return { result, token };
  };
  test('is shown nowhere by default', async () => {
    const { result, token } = await tokenOf([]);
    expect(JSON.stringify(result)).not.toContain(token);
  });
  test('is in _meta alone with --capability=meta', async () => {
    const { result, token } = await tokenOf(['--capability=meta']);
    expect(result._meta?.[CAPABILITY_META]).toEqual({ token });
    expect(JSON.stringify({ ...result, _meta: {} })).not.toContain(token);
  });
  test('is in the result with --capability=result', async () => {
    const { result, token } = await tokenOf(['--capability=result']);
    expect(result.structuredContent).toMatchObject({ capability_token: token });
  });
});

describe('a start that is refused ends with a word on it', () => {
  test.each([
    ['no key', {}, /PURSER_API_KEY is not set/],
    [
      'a placeholder that the client left',
      { PURSER_API_KEY: `\${${'env:PURSER_API_KEY'}}` },
      /the placeholder/,
    ],
    ['an unknown key', { PURSER_API_KEY: 'sk_unknown-unknown-unknown-unknown' }, /is not valid/],
    [
      'no service',
      { PURSER_API_KEY: 'sk_x', PURSER_BASE_URL: 'http://127.0.0.1:1' },
      /PURSER_BASE_URL right/,
    ],
    [
      'plain http beyond this machine',
      { PURSER_API_KEY: 'sk_x', PURSER_BASE_URL: 'http://purser.example' },
      /http/,
    ],
    ['no address', { PURSER_API_KEY: 'sk_x', PURSER_BASE_URL: 'nonsense' }, /PURSER_BASE_URL must be/],
  ])('%s', async (_name, env, words) => {
    const { code, out, err } = await run([], environment(env as Record<string, string>));
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(words);
    expect(err.trim().split('\n').length).toBeLessThanOrEqual(2);
    expect(err).not.toContain('sk_');
  });

  test('keys that must not be where a model is', async () => {
    for (const scopes of [['admin', 'review', 'read', 'authorize'], ['consume']]) {
      const { key } = await makeKey(s, { scopes });
      const { code, err } = await run([], environment({ PURSER_API_KEY: key }));
      expect([code, err]).toEqual([
        1,
        expect.stringMatching(/^purser-mcp: .*must not be given to a model.*\n$/),
      ]);
    }
  });

  test('arguments that there are none of; a key among them is not repeated', async () => {
    for (const args of [['--api-key=sk_secret'], ['sk_secret'], ['--capability=all']]) {
      const { code, err } = await run(args, environment());
      expect([code, err.trim().split('\n')]).toEqual([2, [expect.stringMatching(/^purser-mcp: /)]]);
      expect(err).not.toContain('sk_secret');
    }
  });

  test('help and version are told without a key', async () => {
    expect((await run(['--help'], environment())).out).toContain('PURSER_API_KEY');
    expect(await run(['--version'], environment())).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
  });
});

test('a service that went away is a refusal', async () => {
  const other = await startTestService({ plan: 'enterprise' });
  const agent = await makeAgent(other);
  const env = { PATH: process.env.PATH as string, PURSER_BASE_URL: other.url, PURSER_API_KEY: agent.key };
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN],
    env,
    stderr: 'pipe',
  });
  const client = await connect('2026-07-28', transport);
  await client.listTools();
  await other.stop();
  const said = await refused(client, 'request_spend', purchase('10'));
  expect(said).toMatch(/^Not allowed: Purser could not be reached\. Do not buy\./);
  await client.close();
});

test('it ends when its client does', async () => {
  const { key } = await makeAgent(s);
  const child = spawn(process.execPath, [MAIN], { env: environment({ PURSER_API_KEY: key }), stdio: 'pipe' });
  child.stdin.end();
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0);
});
