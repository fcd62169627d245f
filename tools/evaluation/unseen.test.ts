import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { main } from './main.ts';
import { countLooks, MAX_LOOKS, problemsToShow, recordLook } from './unseen.ts';

const OWN_LOOKS = fileURLToPath(new URL('./looks-at-unseen.txt', import.meta.url));
const directory = await mkdtemp(join(tmpdir(), 'looks-'));
afterAll(() => rm(directory, { recursive: true }));

/** Runs the program with arguments that it must refuse, and resolves with its code and words. */
async function refused(...args: string[]): Promise<{ code: number; said: string }> {
  let said = '';
  const into = () =>
    new Writable({
      write(chunk, _, done) {
        said += chunk;
        done();
      },
    });
  const context = { args, env: {}, stdout: into(), stderr: into() };
  return { code: await main(context as never), said };
}

describe('the unseen cases', () => {
  it('each look is written down with its reason before anything is told, and after five there is none', async () => {
    const file = join(directory, 'looks.txt');
    await writeFile(file, '# head\n');
    for (let look = 1; look <= MAX_LOOKS; look += 1) {
      const why = `to see\n what ${look} brings`;
      expect(await recordLook({ day: '2026-11-23', method: 'built-in/9', why }, file)).toBe(look);
      expect(await countLooks(file)).toBe(look);
    }
    const full = await readFile(file, 'utf8');
    expect(full).toContain('2026-11-23; built-in/9; to see what 5 brings\n');
    await expect(recordLook({ day: '2026-11-23', method: 'built-in/9', why: 'more' }, file)).rejects.toThrow(
      /looked at 5 times/,
    );
    expect(await readFile(file, 'utf8')).toBe(full);
  });

  it('are not told without a reason, nor case by case, nor as files', async () => {
    const before = await readFile(OWN_LOOKS, 'utf8');
    expect(await refused('--unseen', ' ')).toMatchObject({ code: 2, said: expect.stringMatching(/reason/) });
    for (const more of [
      ['--json'],
      ['--mistakes', '3'],
      ['--model'],
      ['--judges'],
      ['--without', 'split_sum'],
    ]) {
      const { code, said } = await refused('--unseen', 'to see more', ...more);
      expect([more, code, said]).toEqual([more, 2, expect.stringMatching(/goes with --write alone/)]);
    }
    for (const kind of [[], ['--model'], ['--judges'], ['--time']]) {
      const { code, said } = await refused('--file', 'cases/trades-unseen.jsonl', ...kind);
      expect([kind, code, said]).toEqual([kind, 2, expect.stringMatching(/put aside to judge by/)]);
    }
    expect(await readFile(OWN_LOOKS, 'utf8')).toBe(before);
  });

  it('the page says how often they were looked at, and nobody looked more often than they bear', async () => {
    const looks = await countLooks(OWN_LOOKS);
    expect(looks).toBeLessThanOrEqual(MAX_LOOKS);
    const page = new URL('../../docs/reference/purpose-evaluation.md', import.meta.url);
    expect(await readFile(page, 'utf8')).toContain(`looked at ${looks} times in all`);
  });

  it('of their floors a test tells only whether they hold', () => {
    expect(problemsToShow('trades-unseen.jsonl', ['kept: 0.31, at least 0.4'])).toEqual([
      'a floor does not hold',
    ]);
    expect(problemsToShow('trades-unseen.jsonl', [])).toEqual([]);
    expect(problemsToShow('cases.jsonl', ['kept: 0.31, at least 0.4'])).toEqual(['kept: 0.31, at least 0.4']);
  });
});
