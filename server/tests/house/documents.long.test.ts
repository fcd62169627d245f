import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freshKey, startTestService } from '../support/running-service.ts';
import { takesMinutes, until } from '../support/until.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

takesMinutes(10);

/** Documents whose commands a reader can paste from top to bottom into one shell. */
const DOCUMENTS = [
  'README.md',
  'docs/guides/first-steps.md',
  'docs/guides/writing-a-payment-adapter.md',
  'docs/guides/allowances.md',
];

/** Guides whose commands speak of what a service holds already. They run one after the other on the same one. */
const GUIDES = [
  'from-shadow-to-enforce',
  'reading-the-report',
  'merchants',
  'finding-and-exporting',
  'webhooks',
  'verifying-the-history',
];

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const ADDRESS = 'http://127.0.0.1:8080';
const run = promisify(execFile);

interface Block {
  line: number;
  text: string;
}

/** The fenced blocks of a document, in order. */
function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(/^```[a-z]*\n([\s\S]*?)^```$/gm)].map((found) => ({
    line: markdown.slice(0, found.index).split('\n').length,
    text: found[1] as string,
  }));
}

/** The commands of a block that call the service or keep a value; a line that ends in a backslash goes on. */
const commandsOf = (text: string) =>
  text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => /^([A-Z_]+=\$\((curl|node) |curl )/.test(line));

/** Values that differ at every run. Where a document repeats one, every run must repeat it in the same places. */
const CHANGING =
  /(?<secret>cap_[0-9A-Z]{26}\.[\w-]+)|(?<id>[a-z]{2,4}_[0-9A-HJKMNP-TV-Z]{26})|(?<hash>sha256:[0-9a-f]{6,64})|(?<moment>\d{4}-\d\d-\d\dT[\d:.]+Z)|(?<month>\d{4}-\d\d)(?=")/g;

const literal = (text: string) => text.replaceAll(/[$()*+./?[\\\]^{|}]/g, '\\$&');

/** Without line breaks, which are the document's own, and the blanks between the values of JSON. */
const asOneLine = (text: string) =>
  text
    .trim()
    .replaceAll(/\n\s*/g, '')
    .replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, '$1');

/** Makes the pattern that an answer, on one line, must match. `…` is any text; line breaks of the document do not count. */
function patternOf(printed: string): { pattern: RegExp; names: string[] } {
  const names: string[] = [];
  const text = asOneLine(printed);
  let source = '';
  let end = 0;
  const plain = (part: string) => part.split('…').map(literal).join('[^]*?');
  for (const found of text.matchAll(CHANGING)) {
    source += plain(text.slice(end, found.index));
    end = found.index + found[0].length;
    const known = names.indexOf(found[0]);
    if (known >= 0) source += `\\${known + 1}(?![0-9])`;
    else {
      names.push(found[0]);
      source += '([\\w:.-]+)';
    }
  }
  return { pattern: new RegExp(source + plain(text.slice(end))), names };
}

/** Makes the pattern of a command's output. Numbers, ids, hashes and moments may differ. */
const patternOfLines = (printed: string) =>
  new RegExp(
    printed
      .trim()
      .split(/(sha256:[0-9a-f]+…|ws_…|\d{4}-\d\d-\d\dT[\d:.]+Z|\d+)/)
      .map((part, i) => (i % 2 === 0 ? literal(part) : '[\\w:.-]+'))
      .join(''),
  );

describe.each(DOCUMENTS)('%s', (path) => {
  test('its commands work in one shell, and the service answers as is printed', async () => {
    const markdown = readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), 'utf8');
    const service = await startTestService({ plan: 'team' });
    try {
      const variables: Record<string, string> = { PURSER_KEY: service.admin_key };
      /** The values of this run, by the values that the document prints. */
      const actual = new Map<string, string>();
      let checked = 0;
      let answer: string | undefined;
      for (const { line, text } of blocksOf(markdown)) {
        const commands = commandsOf(text);
        for (const printed of commands) {
          let command = printed.replaceAll(ADDRESS, service.url);
          for (const [before, now] of actual) command = command.replaceAll(before, now);
          const assigned = /^([A-Z_]+)=/.exec(command)?.[1];
          const script = assigned === undefined ? command : `${command}; printf %s "$${assigned}"`;
          const { stdout } = await run('bash', ['-c', script], {
            env: { PATH: process.env.PATH, ...variables },
          });
          expect(stdout, `${path}:${line}: ${printed}`).not.toBe('');
          if (assigned === undefined) {
            answer = stdout;
            expect(stdout, `${path}:${line}: ${printed}`).not.toMatch(/^\{"error"/);
          } else {
            expect(stdout, `${path}:${line}: ${printed}`).not.toBe('undefined');
            variables[assigned] = stdout;
          }
        }
        if (commands.length === 0 && answer !== undefined && /^["{]/.test(text)) {
          const { pattern, names } = patternOf(text);
          const found = pattern.exec(asOneLine(answer));
          if (found === null) expect.fail(`${path}:${line} prints another answer than\n${answer}`);
          for (const [at, name] of names.entries()) actual.set(name, found?.[at + 1] as string);
          answer = undefined;
          checked += 1;
        }
      }
      expect(checked).toBeGreaterThan(0);
    } finally {
      await service.stop();
    }
  });
});

describe('the guides on what is there already', () => {
  /** On the day of the guides; reviews come two seconds later. */
  const ASKED_AT_MS = Date.UTC(2026, 10, 21, 8, 23, 16);
  let service: Awaited<ReturnType<typeof startTestService>>;
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  let dir: string;
  const env: Record<string, string> = {};
  /** The decision that each path with a placeholder is about. */
  const about: Record<string, string> = {};
  const askInEnforce = () => ask('staging-bot', 5_600);
  const ask = (
    agent: string,
    amount_minor: number,
    merchant = 'Hetzner Online',
    description = 'Server for staging',
  ) =>
    service.call('POST', '/v1/decisions', {
      body: {
        agent,
        action: {
          type: 'purchase',
          merchant,
          payee_id: 'stripe:acct_1',
          amount_minor,
          currency: 'EUR',
          description,
        },
      },
      idempotency_key: freshKey(),
    });

  beforeAll(async () => {
    service = await startTestService({ plan: 'team', stopped_at_ms: ASKED_AT_MS });
    receiver = await startReceiver();
    dir = await mkdtemp(join(tmpdir(), 'purser-guides-'));
    const call = async (path: string, body: object) => {
      const reply = await service.call('POST', path, { body });
      expect(reply.status, reply.text).toBeLessThan(300);
      return reply.body;
    };
    const authority = {
      purpose: { objective: 'Keep the staging servers running' },
      currency: 'EUR',
      per_transaction_limit_minor: 20_000,
      review_threshold_minor: 8_000,
      monthly_budget_minor: 150_000,
    };
    for (const slug of ['staging-bot', 'infra-bot']) await call('/v1/agents', { slug, authority });
    await ask('infra-bot', 4_000);
    const made = async (...of: Parameters<typeof ask>) => {
      const reply = await ask(...of);
      expect(reply.status, reply.text).toBe(201);
      return reply.body.decision_id as string;
    };
    about.outcomes = await made('staging-bot', 5_440);
    await made('staging-bot', 3_100);
    about.reviews = await made('staging-bot', 9_900);
    about.labels = await made('staging-bot', 4_200, 'Zinnober Kontor', 'Engraving of two door signs');
    const denied = await made('staging-bot', 25_000);
    await call(`/v1/decisions/${denied}/outcomes`, { type: 'SPEND_EXECUTED', amount_minor: 25_000 });
    await call(`/v1/decisions/${about.outcomes}/labels`, { label: 'PURPOSE_ALIGNED' });
    await service.setClock(ASKED_AT_MS + 2_500);
    const reviewer = await call('/v1/api-keys', {
      name: 'R',
      scopes: ['review', 'read'],
      principal_id: 'user:r',
    });
    Object.assign(env, {
      PATH: process.env.PATH,
      URL: service.url,
      PURSER: service.url,
      PURSER_KEY: service.admin_key,
      KEY: service.admin_key,
      REVIEWER_KEY: reviewer.key,
    });
  });
  afterAll(async () => {
    await service.stop();
    await receiver.close();
    await rm(dir, { recursive: true });
  });

  test.each(GUIDES)('%s: its commands work, and the service answers as is printed', async (name) => {
    const path = `docs/guides/${name}.md`;
    const markdown = readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), 'utf8');
    const guide_env = { ...env };
    if (name === 'webhooks') Object.assign(guide_env, { SECRET: 'whsec_of_the_guide', URL: receiver.url });
    // An export names the newest signed checkpoint.
    await until(async () => (await service.call('GET', '/v1/ledger/verify')).body.checkpoint);
    const { hash } = (await service.call('GET', '/v1/agents/infra-bot/authority')).body;
    let draft = '';
    let answer = '';
    for (const { line, text } of blocksOf(markdown)) {
      const at = `${path}:${line}`;
      if (/^curl /m.test(text)) {
        const id = /"id":"([^"]+)"/.exec(answer)?.[1];
        draft = /simulate.*?-d '([^']*)'/s.exec(text)?.[1] ?? draft;
        const script = text
          .replaceAll(ADDRESS, service.url)
          .replaceAll('npm run -s purser --', `"${process.execPath}" "${MAIN}"`)
          .replaceAll(/dec_…\/(\w+)/g, (_, what) => `${about[what]}/${what}`)
          .replaceAll('wh_…', id ?? '')
          .replaceAll('"sha256:…"', `"${hash}"`)
          .replaceAll('{…the draft…}', draft);
        answer = (await run('bash', ['-ec', script], { env: guide_env, cwd: dir })).stdout;
        expect(answer, at).not.toBe('');
        expect(answer, at).not.toMatch(/(^|\})\{"error"/);
        if (script.includes('"mode":"ENFORCE"')) answer = (await askInEnforce()).text;
      } else if (answer !== '' && /^(["{]|[A-Z]+: )/.test(text)) {
        const is_json = /^["{]/.test(text);
        const { pattern } = is_json ? patternOf(text) : { pattern: patternOfLines(text) };
        if (!pattern.test(is_json ? asOneLine(answer) : answer))
          expect.fail(`${at} prints another answer than\n${answer}`);
      }
    }
    if (name === 'webhooks') await until(() => receiver.received.length > 0);
  });
});
