import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { takesMinutes } from '../../server/tests/support/until.ts';
import { programTest } from './world.ts';

takesMinutes(5);

const { test, s, pathOf } = programTest();
const GUIDE = fileURLToPath(new URL('../../docs/guides/before-you-integrate.md', import.meta.url));
const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const run = promisify(execFile);

/** The file of the guide: its first lines as the guide prints them, and more of the same kind. */
function bankFile(markdown: string): string {
  const printed = /^(Booking Date;.+\n(?:\d\d\..+\n)+)/m.exec(markdown)?.[1] as string;
  const rows = printed.trimEnd().split('\n');
  const more = Array.from({ length: 41 - rows.length }, (_, i) => {
    const date = `${String(4 + (i % 20)).padStart(2, '0')}.${i < 20 ? '03' : '04'}.2026`;
    return i % 2 === 0
      ? `${date};Hetzner Online GmbH;DE44500105175407324931;-${30 + i},40;EUR;Invoice ${i + 2}`.replace(
          /-(5[4-9]|6\d),/,
          '-31,',
        )
      : `${date};Cloudflare;;-20,0${i % 10};EUR;Plan`;
  });
  return `${[...rows, ...more].join('\n')}\n`;
}

/** The pattern of what the guide prints: `…` is any text, and blanks that align columns do not count. */
const patternOf = (printed: string) =>
  new RegExp(
    printed
      .trim()
      .split('…')
      .map((part) => part.replaceAll(/[$()*+./?[\\\]^{|}]/g, '\\$&').replaceAll(/\s+/g, '\\s+'))
      .join('[^]*?'),
  );

test('every command of the guide works from top to bottom and prints what the guide says', async () => {
  const markdown = readFileSync(GUIDE, 'utf8');
  await writeFile(pathOf('bank.csv'), bankFile(markdown));
  const commands = [...markdown.matchAll(/^```[a-z]*\n\$ ((?:.*\\\n)*.*)\n([\s\S]*?)^```$/gm)];
  expect(commands.length).toBe(markdown.match(/^\$ /gm)?.length);
  expect(commands.length).toBeGreaterThanOrEqual(7);
  for (const [, command = '', printed = ''] of commands) {
    const { stdout } = await run('bash', ['-c', `purser() { node ${MAIN} "$@"; }; ${command}`], {
      cwd: pathOf('.'),
      env: {
        PATH: process.env.PATH,
        HOME: pathOf('.'),
        PURSER_BASE_URL: s.url,
        PURSER_API_KEY: s.admin_key,
      },
    });
    expect([command, stdout]).toEqual([command, expect.stringMatching(patternOf(printed))]);
    expect([command, stdout]).not.toEqual([command, expect.stringContaining('"error"')]);
    if (command.includes('/ledger/verify')) expect(JSON.parse(stdout).breaks).toEqual([]);
    if (command.includes('/anomalies')) expect(JSON.parse(stdout)).toHaveProperty('data');
  }
});
