import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { startTestService } from '../../server/tests/support/running-service.ts';
import { takesMinutes } from '../../server/tests/support/until.ts';

// Each framework is installed into an empty folder, as its reader does.
takesMinutes(10);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const GUIDE = readFileSync(join(ROOT, 'docs/guides/frameworks.md'), 'utf8');
const run = promisify(execFile);
const COMPILER = join(ROOT, 'node_modules/typescript/bin/tsc');
/** The examples are checked where their frameworks are installed, and nowhere else. */
const CHECKED = [
  ...['--noEmit', '--allowJs', '--checkJs', '--strict', '--skipLibCheck'],
  ...['--module', 'nodenext', '--target', 'es2023'],
  ...['--typeRoots', join(ROOT, 'node_modules/@types'), '--types', 'node'],
];

/** The fenced blocks of the text under a heading; of the page's beginning without one. */
function blocksUnder(heading: string | null): string[] {
  const sections = GUIDE.split(/^## /m);
  const section = heading === null ? sections[0] : sections.find((each) => each.startsWith(`${heading}\n`));
  return [...(section ?? '').matchAll(/^```[a-z]*\n([\s\S]*?)^```$/gm)].map(([, text]) => text as string);
}

test.each(['Claude Agent SDK', 'AI SDK', 'LangChain', 'OpenAI Agents'])(
  'the guide’s commands for %s lead from an empty folder to a refusal, pay nothing twice, and have types',
  async (framework) => {
    const service = await startTestService();
    onTestFinished(() => service.stop());
    const outside = await mkdtemp(join(tmpdir(), 'purser-frameworks-'));
    onTestFinished(() => rm(outside, { recursive: true, force: true }));
    const [before] = blocksUnder(null);
    const [commands] = blocksUnder(framework);
    const [printed] = blocksUnder('What you see');
    const script = `${before}${commands}echo THE SECOND RUN\nnode agent.mjs\n`
      .replaceAll('http://127.0.0.1:8080', service.url)
      .replaceAll('../guarded', join(outside, 'guarded'));
    const { stdout } = await run('bash', ['-e', '-c', script], {
      cwd: ROOT,
      env: {
        PATH: process.env.PATH,
        // Nothing of the machine's own settings, but npm's.
        HOME: outside,
        npm_config_userconfig: join(homedir(), '.npmrc'),
        npm_config_cache: join(homedir(), '.npm'),
        PURSER_KEY: service.admin_key,
      },
      maxBuffer: 10_000_000,
    });
    const [first = '', second = ''] = stdout.split('THE SECOND RUN\n');
    expect(first.endsWith(printed as string), first).toBe(true);
    expect(second).toMatch(
      framework === 'LangChain' ? /^ALREADY_PAID: .*\nDENIED: / : /^UNCERTAIN: .*\nDENIED: /,
    );
    await run(process.execPath, [COMPILER, ...CHECKED, 'agent.mjs'], { cwd: join(outside, 'guarded') }).catch(
      (error) => expect.fail(error.stdout),
    );
    const { body } = await service.call('GET', '/v1/decisions?order=asc');
    const decisions = (body as { data: { decision: string; reason_code: string }[] }).data;
    expect(decisions.map(({ decision, reason_code }) => [decision, reason_code])).toEqual([
      ['ALLOW', 'WITHIN_AUTHORITY'],
      ['DENY', 'PER_TRANSACTION_LIMIT_EXCEEDED'],
    ]);
  },
);
