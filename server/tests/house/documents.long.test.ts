import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { startTestService } from '../support/running-service.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(10);

/** Documents whose commands a reader can paste from top to bottom into one shell. */
const DOCUMENTS = ['README.md', 'docs/guides/first-steps.md', 'docs/guides/writing-a-payment-adapter.md'];

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

/** The commands of a block that call the service; a line that ends in a backslash goes on. */
const commandsOf = (text: string) =>
  text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => /^([A-Z_]+=\$\()?curl /.test(line));

/** Values that differ at every run. Where a document repeats one, every run must repeat it in the same places. */
const CHANGING =
  /(?<secret>cap_[0-9A-Z]{26}\.[\w-]+)|(?<id>[a-z]{2,4}_[0-9A-HJKMNP-TV-Z]{26})|(?<hash>sha256:[0-9a-f]{64})|(?<moment>\d{4}-\d\d-\d\dT[\d:.]+Z)|(?<month>\d{4}-\d\d)(?=")/g;

const literal = (text: string) => text.replaceAll(/[$()*+./?[\\\]^{|}]/g, '\\$&');

/** What an answer must look like to be the one that is printed: `…` is any text, line breaks are the document's own. */
function patternOf(printed: string): { pattern: RegExp; names: string[] } {
  const names: string[] = [];
  const text = printed.trim().replaceAll(/\n\s*/g, '');
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

describe.each(DOCUMENTS)('%s', (path) => {
  test('its commands work in one shell, and the service answers as is printed', async () => {
    const markdown = readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), 'utf8');
    const service = await startTestService({ plan: 'team' });
    try {
      const variables: Record<string, string> = { PURSER_KEY: service.admin_key };
      /** What stands here in place of what the document prints. */
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
          const found = pattern.exec(answer);
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
