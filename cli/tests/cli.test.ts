import { spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { webhooks } from '@purser/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import {
  makeKey,
  type RunningService,
  spend,
  startTestService,
} from '../../server/tests/support/running-service.ts';
import { until } from '../../server/tests/support/until.ts';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const OBJECTIVE = 'Keep the staging servers running: cloud servers and hosting.';
const AUTHORITY = {
  purpose: { objective: OBJECTIVE },
  currency: 'EUR',
  per_transaction_limit_minor: 20_000,
  review_threshold_minor: 8_000,
  blocked_merchants: ['Evil Corporation'],
};

let s: RunningService;
let folder = '';
beforeAll(async () => {
  s = await startTestService({ plan: 'enterprise' });
  folder = await mkdtemp(join(tmpdir(), 'purser-cli-'));
});
afterAll(async () => {
  await s.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Ended {
  code: number | null;
  out: string;
  err: string;
}

/** Starts the built program with nothing in its environment but this. */
function start(args: string[], { env = {}, input }: { env?: Record<string, string>; input?: string } = {}) {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      PURSER_BASE_URL: s.url,
      PURSER_API_KEY: s.admin_key,
      ...env,
    },
  });
  const told = { out: '', err: '' };
  child.stdout.on('data', (chunk) => {
    told.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    told.err += chunk;
  });
  child.stdin.end(input ?? '');
  const ended = new Promise<Ended>((resolve) => child.on('close', (code) => resolve({ code, ...told })));
  return { child, told, ended };
}
const run = (args: string[], given: Parameters<typeof start>[1] = {}) => start(args, given).ended;
const lines = (text: string) => text.trim().split('\n');

let agents = 0;
async function makeAgent(more: object = {}): Promise<string> {
  const slug = `cli-${++agents}`;
  await s.call('POST', '/v1/agents', { body: { slug, authority: AUTHORITY, ...more } });
  return slug;
}
let asked = 0;
async function decide(agent: string, amount_minor: number, merchant = 'Hetzner Online') {
  const body = spend(agent, amount_minor, { action: { merchant } });
  return (await s.call('POST', '/v1/decisions', { body, idempotency_key: `cli-${++asked}` })).body;
}

describe('authority', () => {
  test('pull, edit, diff, apply, and nothing differs any more; comments stay', async () => {
    const agent = await makeAgent();
    await decide(agent, 5_440);
    await decide(agent, 25_000);
    const file = join(folder, `${agent}.yaml`);
    expect(await run(['authority', 'pull', agent, '-f', file])).toMatchObject({ code: 0, err: '' });
    const pulled = await readFile(file, 'utf8');
    expect(parse(pulled)).toMatchObject({
      agent,
      authority: AUTHORITY,
      base: expect.stringMatching(/^sha256:/),
    });
    expect(await run(['authority', 'diff', '-f', file])).toMatchObject({
      code: 0,
      out: `${agent}: nothing differs from version 1.\n`,
    });
    expect((await run(['authority', 'pull', agent, '-f', file])).err).toContain('--force');

    const edited = pulled
      .replace(
        'per_transaction_limit_minor: 20000',
        'per_transaction_limit_minor: 30000 # for the new servers',
      )
      .replace('review_threshold_minor: 8000', 'review_threshold_minor: 5000')
      .replace('Evil Corporation', 'Casino');
    await writeFile(file, edited);
    const differs = await run(['authority', 'diff', '-f', file]);
    expect(differs.code).toBe(2);
    for (const line of [
      '  the limit of a single spend goes from EUR 200.00 to EUR 300.00 (widens)',
      '  the amount from which a person reviews goes from EUR 80.00 to EUR 50.00',
      '  “Casino” is now on the block list',
      '  “Evil Corporation” is no longer on the block list (widens)',
      'Of the last 2 decisions:',
      '  1 ALLOW → REVIEW (EUR 54.40)',
      '  1 DENY → REVIEW (EUR 250.00)',
    ])
      expect(lines(differs.out)).toContain(line.trimEnd());

    expect(await run(['authority', 'apply', '-f', file])).toMatchObject({
      code: 2,
      err: expect.stringContaining('--yes'),
    });
    expect((await s.call('GET', `/v1/agents/${agent}/authority`)).body.version).toBe(1);
    const applied = await run(['authority', 'apply', '-f', file, '--yes', '--note', 'New servers']);
    expect([applied.code, lines(applied.out).at(-1)]).toEqual([0, `${agent}: version 2 is in force.`]);
    const { body } = await s.call('GET', `/v1/agents/${agent}/authority`);
    expect([body.note, body.authority.blocked_merchants]).toEqual(['New servers', ['Casino']]);
    const kept = await readFile(file, 'utf8');
    expect(kept).toContain('# for the new servers');
    expect(parse(kept).base).toBe(body.hash);
    expect((await run(['authority', 'apply', '-f', file, '--yes'])).out).toContain(
      'nothing differs from version 2',
    );
  });

  test('a file that was written against another version is not applied', async () => {
    const agent = await makeAgent();
    const file = join(folder, `${agent}.yaml`);
    await run(['authority', 'pull', agent, '-f', file]);
    await s.call('POST', `/v1/agents/${agent}/authority`, { body: { ...AUTHORITY, currency: 'USD' } });
    expect((await run(['authority', 'diff', '-f', file])).out).toContain('written against another version');
    const { code, err } = await run(['authority', 'apply', '-f', file, '--yes']);
    expect([code, err]).toEqual([1, expect.stringContaining('(authority_changed)')]);
    expect((await s.call('GET', `/v1/agents/${agent}/authority`)).body.version).toBe(2);
  });

  test('a first authority, as data', async () => {
    const agent = await makeAgent({ authority: undefined });
    const file = join(folder, `${agent}.json`);
    await writeFile(file, JSON.stringify({ agent, authority: AUTHORITY }));
    const told = JSON.parse((await run(['authority', 'diff', '-f', file, '--json'])).out);
    expect(told).toMatchObject({ agent, version: null, simulation: { saved: false } });
    expect(told.changes).toContainEqual(
      expect.objectContaining({ field: 'purpose.objective', widens: 'yes' }),
    );
    const made = JSON.parse((await run(['authority', 'apply', '-f', file, '--yes', '--json'])).out);
    expect(made).toMatchObject({ agent, version: 1 });
    expect(JSON.parse((await run(['authority', 'pull', agent, '--json'])).out)).toMatchObject({
      base: made.hash,
    });
  });

  test('tests hold a file against decisions that were made', async () => {
    const agent = await makeAgent();
    const [small, large] = [await decide(agent, 5_440), await decide(agent, 25_000)];
    const file = join(folder, `${agent}.json`);
    const write = (expect: string) =>
      writeFile(
        file,
        JSON.stringify({
          agent,
          authority: { ...AUTHORITY, per_transaction_limit_minor: 30_000 },
          tests: [
            { decision: small.decision_id, expect: 'ALLOW' },
            { decision: large.decision_id, expect, reason: 'REVIEW_THRESHOLD_EXCEEDED' },
          ],
        }),
      );
    await write('REVIEW');
    expect(await run(['authority', 'test', '-f', file])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/2 passed, 0 failed\n$/),
    });
    await write('DENY');
    const failed = await run(['authority', 'test', '-f', file]);
    expect([failed.code, failed.out]).toEqual([
      2,
      expect.stringMatching(
        /FAIL {2}dec_\w+ {2}expected DENY REVIEW_THRESHOLD_EXCEEDED, got REVIEW REVIEW_THRESHOLD_EXCEEDED\n1 passed, 1 failed/,
      ),
    ]);
    expect(JSON.parse((await run(['authority', 'test', '-f', file, '--json'])).out)).toMatchObject({
      passed: 1,
      failed: 1,
    });
  });

  test('tests hold the files of a directory against spends that are thought up', async () => {
    const policies = join(folder, 'policies');
    await mkdir(policies);
    const action = { type: 'purchase', merchant: 'Hetzner Online', amount_minor: 25_000, currency: 'EUR' };
    const step = (expect: object) => ({ at: '2026-11-21T08:30:00Z', decide: { action }, expect });
    const write = (name: string, body: object) => writeFile(join(policies, name), JSON.stringify(body));
    await write('a.json', {
      authority: AUTHORITY,
      steps: [
        step({ decision: 'DENY', reason_code: 'PER_TRANSACTION_LIMIT_EXCEEDED' }),
        { at: '2026-11-21T08:30:00Z', decide: { action } },
      ],
    });
    await write('b.json', { agent: 'nobody-yet', authority: AUTHORITY });
    const { code, out } = await run(['authority', 'test', policies]);
    expect([code, lines(out)]).toEqual([
      0,
      [
        `${policies}/a.json:`,
        'ok    steps[0]  DENY PER_TRANSACTION_LIMIT_EXCEEDED',
        `${policies}/b.json: no tests`,
        '1 passed, 0 failed',
      ],
    ]);
    await write('c.json', { authority: AUTHORITY, mode: 'SHADOW', steps: [step({ decision: 'ALLOW' })] });
    const failed = await run(['authority', 'test', policies, '--json']);
    expect(failed.code).toBe(2);
    expect(JSON.parse(failed.out)).toMatchObject({
      passed: 1,
      failed: 1,
      files: [
        { results: [{ ok: true }] },
        { results: [] },
        { results: [{ of: 'steps[0]', expect: 'decision ALLOW', got: 'decision DENY', ok: false }] },
      ],
    });
    await write('d.json', { authority: AUTHORITY, steps: [step({ decision: 'PERHAPS' })] });
    const refused = await run(['authority', 'test', policies]);
    expect([refused.code, refused.err]).toEqual([
      1,
      expect.stringContaining(`${policies}/d.json: steps[0].expect.decision: must be`),
    ]);
    expect((await run(['authority', 'test'])).code).toBe(1);
    expect((await run(['authority', 'test', '-f', join(policies, 'b.json')])).err).toContain(
      'nothing to test',
    );
    expect((await run(['authority', 'test', join(policies, 'none')])).err).toContain(
      'cannot be read (ENOENT)',
    );
  });

  test.each([
    ['a field that there is none of', 'agent: a\nauthority: {}\nlimits: 1\n', 'limits is not a known field'],
    ['no agent', 'authority: {}\n', 'agent must be'],
    ['no YAML', 'agent: [\n', 'file.yaml: '],
    ['the same field twice', 'agent: a\nagent: b\nauthority: {}\n', 'file.yaml: '],
    [
      'an odd case',
      'agent: a\nauthority: {}\ntests: [{ decision: x, expect: ALLOW }]\n',
      'tests[0].decision must be',
    ],
    [
      'an agent that is not there',
      'agent: nobody\nauthority: { currency: EUR }\n',
      'There is no agent nobody',
    ],
  ])('%s is told with file and field', async (_name, text, words) => {
    const file = join(folder, 'file.yaml');
    await writeFile(file, text);
    const { code, err } = await run(['authority', 'diff', '-f', file]);
    expect([code, lines(err).length]).toEqual([1, 1]);
    expect(err).toContain(words);
  });

  test('a mistyped limit is refused by the service in its words', async () => {
    const agent = await makeAgent();
    const file = join(folder, 'file.yaml');
    await writeFile(file, JSON.stringify({ agent, authority: { ...AUTHORITY, monthly_budjet_minor: 5 } }));
    expect(await run(['authority', 'diff', '-f', file])).toMatchObject({
      code: 1,
      err: expect.stringContaining('monthly_budjet_minor: is not a known field'),
    });
  });
});

test('ask: an agent in SHADOW is asked for, one in ENFORCE only for real; 2 where it is not allowed', async () => {
  const shadow = await makeAgent();
  const enforce = await makeAgent({ mode: 'ENFORCE' });
  const of = (agent: string, amount: string, ...more: string[]) =>
    run([
      'ask',
      '--agent',
      agent,
      '--merchant',
      'Hetzner Online',
      '--amount',
      amount,
      '--currency',
      'EUR',
      '--description',
      'A server for staging',
      ...more,
    ]);
  expect(await of(shadow, '54.40')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^ALLOW, EUR 54\.40 {2}\(WITHIN_AUTHORITY\)\n/),
  });
  expect(await of(shadow, '250')).toMatchObject({ code: 2, out: expect.stringMatching(/^DENY/) });
  expect(await of(enforce, '54.40')).toMatchObject({ code: 1, err: expect.stringContaining('--for-real') });
  const named = ['--for-real', '--name', 'order-1', '--json'];
  const [one, two] = [await of(enforce, '54.40', ...named), await of(enforce, '54.40', ...named)];
  expect(JSON.parse(one.out).decision_id).toBe(JSON.parse(two.out).decision_id);
  expect(await of(shadow, '1,5')).toMatchObject({
    code: 1,
    err: expect.stringContaining('--amount must be'),
  });
});

test('simulate tells what a draft would have changed', async () => {
  const agent = await makeAgent();
  await decide(agent, 5_440);
  const file = join(folder, `${agent}.json`);
  await writeFile(
    file,
    JSON.stringify({ agent, authority: { ...AUTHORITY, blocked_merchants: ['Hetzner Online'] } }),
  );
  expect((await run(['simulate', '-f', file, '--limit', '5'])).out).toContain('1 ALLOW → DENY (EUR 54.40)');
  expect(JSON.parse((await run(['simulate', '-f', file, '--json'])).out).evaluated).toBe(1);
});

test('decisions tail shows the newest, then each that is made, and ends with Ctrl-C', async () => {
  const agent = await makeAgent();
  const first = await decide(agent, 1_000);
  const { child, told, ended } = start(['decisions', 'tail', '--agent', agent]);
  await until(() => told.out.includes(first.decision_id));
  const next = await decide(agent, 2_000, 'Bad\u202e Merchant');
  await until(() => told.out.includes(next.decision_id));
  child.kill('SIGINT');
  expect((await ended).code).toBe(0);
  const shown = lines(told.out);
  expect(shown.map((line) => /dec_\w+/.exec(line)?.[0])).toEqual([first.decision_id, next.decision_id]);
  expect(shown[0]).toContain('EUR 10.00  Hetzner Online');
  expect(told.out).not.toContain('\u202e');
  const data = await run(['decisions', 'tail', '--agent', agent, '--no-follow', '-n', '1', '--json']);
  expect(JSON.parse(data.out).decision_id).toBe(next.decision_id);
});

test('review: walks through what waits, or reviews one; a reviewer’s key is enough', async () => {
  const agent = await makeAgent({ mode: 'ENFORCE' });
  const env = {
    PURSER_API_KEY: (await makeKey(s, { scopes: ['review', 'read'], principal_id: 'user:ada' })).key,
  };
  const [one, two, three] = [
    await decide(agent, 9_000),
    await decide(agent, 9_100),
    await decide(agent, 9_200),
  ];
  const walked = await run(['review'], { env, input: 's\nn\nnot needed\nq\n' });
  expect(walked.code).toBe(0);
  expect(walked.out).toContain('EUR 90.00 to Hetzner Online');
  expect(walked.out).toContain('DENY is recorded; in force: DENY.');
  const stateOf = async (id: string) => (await s.call('GET', `/v1/decisions/${id}`)).body;
  expect((await stateOf(two.decision_id)).review).toMatchObject({
    action: 'DENY',
    comment: 'not needed',
    principal_id: 'user:ada',
  });
  expect((await stateOf(one.decision_id)).review_state).toBe('PENDING');
  const allow = ['review', one.decision_id, '--allow', '--reason', 'WITHIN_TASK'];
  expect((await run(allow, { env })).out).toContain('ALLOW is recorded; in force: ALLOW.');
  expect(await run(allow, { env })).toMatchObject({
    code: 1,
    err: expect.stringContaining('(review_final)'),
  });
  const listed = lines((await run(['review', '--json'], { env })).out).map(
    (line) => JSON.parse(line).decision_id,
  );
  expect(listed).toContain(three.decision_id);
  for (const { decision_id } of [one, two]) expect(listed).not.toContain(decision_id);
});

describe('events', () => {
  async function receiver() {
    const got: { headers: Headers; body: string }[] = [];
    const server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      got.push({ headers: new Headers(request.headers as Record<string, string>), body });
      response.statusCode = request.url === '/no' ? 500 : 204;
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { got, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  }
  const PURSER_WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

  test.each([
    'decision.created',
    'decision.review.recorded',
    'decision.label.recorded',
    'decision.outcome.recorded',
  ])('trigger %s sends a signed sample', async (type) => {
    const { got, server, url } = await receiver();
    try {
      const env = { PURSER_WEBHOOK_SECRET, PURSER_API_KEY: '' };
      expect((await run(['trigger', type, '--forward-to', url], { env })).code).toBe(0);
      const event = await webhooks.unwrap(
        got[0]?.body as string,
        got[0]?.headers as Headers,
        PURSER_WEBHOOK_SECRET,
      );
      expect(event).toMatchObject({ type, data: { decision_id: expect.stringMatching(/^dec_/) } });
      expect(got[0]?.body).not.toContain('"token"');
    } finally {
      server.close();
    }
  });

  test('trigger tells a receiver that refuses', async () => {
    const { server, url } = await receiver();
    const refused = await run(['trigger', 'decision.created', '--forward-to', `${url}/no`]);
    expect([refused.code, refused.out]).toEqual([2, expect.stringMatching(/→ 500\n$/)]);
    expect(refused.err).toMatch(/^Signed with whsec_/);
    server.close();
  });

  test('listen hands on what happens from now on; without an endpoint it says why there is nothing', async () => {
    const listen = (url: string) => ['listen', '--forward-to', url];
    expect(await run([...listen('http://127.0.0.1:1'), '--no-follow'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('no webhook endpoint'),
    });
    await s.call('POST', '/v1/webhooks', { body: { url: 'https://receiver.invalid/events' } });
    const agent = await makeAgent();
    await decide(agent, 1_000);
    const { got, server, url } = await receiver();
    const { child, told, ended } = start(listen(url), { env: { PURSER_WEBHOOK_SECRET } });
    try {
      // The first that is handed on shows that it listens; what was before it is left out.
      await until(async () => {
        if (got.length === 0) await decide(agent, 1_100);
        return got.length > 0;
      }, 200);
      const event = await webhooks.unwrap(
        got[0]?.body as string,
        got[0]?.headers as Headers,
        PURSER_WEBHOOK_SECRET,
      );
      expect(event).toMatchObject({ type: 'decision.created', data: { requested_amount_minor: 1_100 } });
      await until(() => told.out.includes('→ 204'));
      child.kill('SIGINT');
      expect((await ended).code).toBe(0);
    } finally {
      child.kill('SIGKILL');
      server.close();
    }
  });
});

describe('keys', () => {
  test('come from a file that nobody else may read', async () => {
    const file = join(folder, 'key');
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
      [{ PURSER_API_KEY: '' }, 'There is no key'],
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
  test.each([
    ['claude-code', 'mcpServers', '.mcp.json'],
    ['cursor', 'mcpServers', '.cursor/mcp.json'],
    ['vscode', 'servers', '.vscode/mcp.json'],
  ])('the configuration of %s can be parsed, and holds no key', async (client, list, file) => {
    for (const flags of [[], ['--http']]) {
      const { code, out } = await run(['mcp', 'config', client, ...flags]);
      expect(code).toBe(0);
      const printed = lines(out)
        .filter((line) => !line.startsWith('#'))
        .join('\n');
      const { purser } = JSON.parse(printed)[list];
      if (flags.length === 0) {
        expect(purser).toMatchObject({ command: 'npx', args: ['-y', '@purser/mcp'] });
        expect(purser.env).toEqual({
          PURSER_API_KEY: expect.stringMatching(/^\$\{.+\}$/),
          PURSER_BASE_URL: s.url,
        });
      } else {
        expect(purser).toMatchObject({ type: 'http', url: `${s.url}/mcp` });
        expect(purser.headers.Authorization).toMatch(/^Bearer \$\{.+\}$/);
      }
      expect(out).toContain(file);
      expect(out).not.toContain(s.admin_key);
    }
  });

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
    const { child, told } = (() => {
      const spawned = spawn(process.execPath, [MAIN, 'mcp'], {
        env: { PATH: process.env.PATH, PURSER_BASE_URL: s.url, ...env },
      });
      const told = { out: '' };
      spawned.stdout.on('data', (chunk) => {
        told.out += chunk;
      });
      spawned.stdin.write(input);
      return { child: spawned, told };
    })();
    await until(() => told.out.includes('\n'));
    expect(JSON.parse(told.out)).toMatchObject({ id: 1, result: { serverInfo: { name: 'purser' } } });
    const ended = new Promise((resolve) => child.on('close', resolve));
    child.stdin.end();
    expect(await ended).toBe(0);
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
