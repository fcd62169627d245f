import { spawn } from 'node:child_process';
import { chmod, writeFile } from 'node:fs/promises';
import { describe, expect } from 'vitest';
import { makeKey } from '../../server/tests/support/running-service.ts';
import { until } from '../../server/tests/support/until.ts';
import { lines, programTest } from './world.ts';

const { test, s, start, run, pathOf, makeAgent } = programTest();

describe('keys', () => {
  test('come from a file that nobody else may read', async () => {
    const file = pathOf('key');
    await writeFile(file, `${s.admin_key}\n`, { mode: 0o600 });
    const env = { PURSER_API_KEY: '', PURSER_API_KEY_FILE: file };
    expect((await run(['decisions', 'tail', '--no-follow'], { env })).code).toBe(0);
    await chmod(file, 0o640);
    const { code, err } = await run(['decisions', 'tail', '--no-follow'], { env });
    expect([code, err]).toEqual([1, expect.stringContaining(`chmod 600 ${file}`)]);
    expect(err).not.toContain(s.admin_key);
  });
  test('are no arguments: there is no option for one', async () => {
    const { code, err } = await run(['decisions', 'tail', '--api-key', 'sk_secret-secret']);
    expect([code, err]).toEqual([1, expect.stringContaining("unknown option '--api-key'")]);
    expect(err).not.toContain('sk_secret');
  });
  test('missing and wrong ones, and a service that is away, are told in one line', async () => {
    for (const [env, words] of [
      [{ PURSER_API_KEY: '' }, 'No key'],
      [{ PURSER_API_KEY: 'sk_wrong-wrong-wrong-wrong-wrong' }, 'Put a valid key'],
      [{ PURSER_BASE_URL: 'http://127.0.0.1:1' }, 'PURSER_BASE_URL'],
    ] as const) {
      const { code, out, err } = await run(['decisions', 'tail', '--no-follow'], { env });
      expect([code, out, lines(err).length]).toEqual([1, '', 1]);
      expect(err).toContain(words);
    }
  });
});

describe('mcp', () => {
  // The forms that the clients' own documentation gives, as of November 2026.
  const INPUTS = [
    { type: 'promptString', id: 'purser-api-key', description: expect.any(String), password: true },
  ];
  test.each([
    ['claude-code', '.mcp.json', 'mcpServers', 'PURSER_API_KEY', { type: 'http' }, {}],
    ['cursor', '.cursor/mcp.json', 'mcpServers', 'env:PURSER_API_KEY', {}, {}],
    ['vscode', '.vscode/mcp.json', 'servers', 'input:purser-api-key', { type: 'http' }, { inputs: INPUTS }],
  ])(
    'the configuration of %s is what it documents, and holds no key',
    async (client, file, list, name, remote, more) => {
      const key = `\${${name}}`;
      const local = {
        type: 'stdio',
        command: 'npx',
        args: ['-y', `${s.url}/packages/purser-mcp-0.1.0.tgz`],
        env: { PURSER_API_KEY: key, PURSER_BASE_URL: s.url },
      };
      const at_address = { ...remote, url: `${s.url}/mcp`, headers: { Authorization: `Bearer ${key}` } };
      for (const [flags, purser] of [
        [['--stdio'], local],
        [[], at_address],
        [['--http'], at_address],
      ] as const) {
        const { code, out } = await run(['mcp', 'config', client, ...flags]);
        expect(code).toBe(0);
        const printed = lines(out)
          .filter((line) => !line.startsWith('#'))
          .join('\n');
        expect(JSON.parse(printed)).toEqual({ ...more, [list]: { purser } });
        expect(out).toContain(file);
        expect(out).not.toContain(s.admin_key);
      }
    },
  );

  test('serves on standard input and output', async () => {
    const agent = await makeAgent();
    const { id } = (await s.call('GET', `/v1/agents/${agent}`)).body;
    const env = { PURSER_API_KEY: (await makeKey(s, { agent_id: id })).key };
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    };
    const input = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`;
    const { child, told, ended } = start(['mcp'], { env, input: null });
    child.stdin.write(input);
    await until(() => told.out.includes('\n'));
    expect(JSON.parse(told.out)).toMatchObject({ id: 1, result: { serverInfo: { name: 'purser' } } });
    child.stdin.end();
    expect((await ended).code).toBe(0);
    expect(await run(['mcp'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('must not be given to a model'),
    });
  });
});

test.each(['bash', 'zsh', 'fish'])('completion for %s knows every command', async (shell) => {
  const { code, out } = await run(['completion', shell]);
  expect(code).toBe(0);
  for (const word of [
    'authority',
    'diff',
    'apply',
    'review',
    'tail',
    'listen',
    'trigger',
    'decision.created',
    'vscode',
  ])
    expect(out).toContain(word);
});

test('bash completes with the script', async () => {
  const { out } = await run(['completion', 'bash']);
  const script = `${out}\ncomplete_for() { COMP_WORDS=(purser "$@"); COMP_CWORD=$#; COMPREPLY=(); _purser; echo "\${COMPREPLY[*]}"; }
complete_for auth; complete_for authority a; complete_for authority diff --f`;
  const bash = spawn('bash', ['-c', script]);
  let told = '';
  bash.stdout.on('data', (chunk) => {
    told += chunk;
  });
  await new Promise((resolve) => bash.on('close', resolve));
  expect(lines(told)).toEqual(['authority', 'apply', '--file']);
});

test.each([
  [['decisions', 'tail', '-n', 'abc'], 'must be a whole number'],
  [['trigger', 'nonsense', '--forward-to', 'http://127.0.0.1:1'], 'Allowed choices are decision.created'],
  [['trigger', 'decision.created', '--forward-to', 'nowhere'], 'must be an http or https URL'],
  [['mcp', 'config', 'nonsense'], 'Allowed choices are claude-code'],
])('%j is told in one line', async (args, words) => {
  const { code, out, err } = await run(args);
  expect([code, out, lines(err).length]).toEqual([1, '', 1]);
  expect(err).toContain(words);
});

test('help names every command, and how it ends', async () => {
  const { code, out } = await run(['--help']);
  expect(code).toBe(0);
  for (const word of [
    'authority',
    'simulate',
    'ask',
    'review',
    'decisions',
    'listen',
    'trigger',
    'mcp',
    'completion',
    'PURSER_API_KEY',
    'Exit codes',
  ])
    expect(out).toContain(word);
});
