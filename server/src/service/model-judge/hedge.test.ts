import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { makeHedge } from './hedge.ts';
import type { ModelAnswer } from './model-client.ts';

/** A clock that only `advance` moves; waits end when it gets there. */
let now_ms = 0;
let waits: { at_ms: number; end: () => void }[] = [];
beforeEach(() => {
  now_ms = 0;
  waits = [];
});
const turn = () => new Promise((next) => setImmediate(next));
async function advance(by_ms: number): Promise<void> {
  await turn();
  now_ms += by_ms;
  for (const each of waits.filter(({ at_ms }) => at_ms <= now_ms)) each.end();
  await turn();
}
const wait = (wait_ms: number, signal: AbortSignal) =>
  new Promise<void>((end) => {
    waits.push({ at_ms: now_ms + wait_ms, end });
    signal.addEventListener('abort', () => end());
  });

const answered = (content: string): ModelAnswer => ({ kind: 'answered', content, usage: null });
const failed = (status: number, retry_after_ms: number | null = null): ModelAnswer => ({
  kind: 'http_error',
  status,
  retry_after_ms,
});

/** A model whose attempts are answered by hand. */
function byHand() {
  const attempts: { answer: (answer: ModelAnswer) => void; signal: AbortSignal; timeout_ms: number }[] = [];
  return {
    attempts,
    attempt: (timeout_ms: number, signal: AbortSignal) =>
      new Promise<ModelAnswer>((answer) => {
        attempts.push({ answer, signal, timeout_ms });
        signal.addEventListener('abort', () => answer({ kind: 'cancelled' }));
      }),
  };
}

describe('a second attempt', () => {
  let released = 0;
  const yes = () => () => {
    released += 1;
  };
  beforeEach(() => {
    released = 0;
  });

  test('is not made where the first is answered in time', async () => {
    const { attempts, attempt } = byHand();
    const asked = makeHedge({ now_ms: () => now_ms, wait }).ask(attempt, yes, 1_000);
    await advance(499);
    attempts[0]?.answer(answered('one'));
    expect(await asked).toEqual(answered('one'));
    await advance(1_000);
    expect([attempts.length, released]).toEqual([1, 0]);
  });

  test('begins beside a slow first one with the time that is left; the answer is that of the faster, the other is cancelled', async () => {
    for (const faster of [0, 1]) {
      released = 0;
      const { attempts, attempt } = byHand();
      const asked = makeHedge({ now_ms: () => now_ms, wait }).ask(attempt, yes, 1_000);
      await advance(500);
      expect(attempts.map(({ timeout_ms }) => timeout_ms)).toEqual([1_000, 500]);
      attempts[faster]?.answer(answered(`attempt ${faster}`));
      expect(await asked).toEqual(answered(`attempt ${faster}`));
      expect(attempts[1 - faster]?.signal.aborted).toBe(true);
      await turn();
      expect(released).toBe(1);
    }
  });

  test.each([
    [140, 140],
    [3, 100],
  ])('begins earlier once answers are known to take %i ms: after %i', async (took_ms, begins_ms) => {
    const { attempts, attempt } = byHand();
    const hedge = makeHedge({ now_ms: () => now_ms, wait });
    for (let i = 0; i < 10; i++) {
      const asked = hedge.ask(attempt, yes, 1_000);
      await advance(took_ms);
      attempts.at(-1)?.answer(answered('quick'));
      await asked;
    }
    const asked = hedge.ask(attempt, yes, 1_000);
    await advance(begins_ms - 1);
    expect(attempts).toHaveLength(11);
    await advance(1);
    expect(attempts).toHaveLength(12);
    attempts.at(-1)?.answer(answered('quick'));
    await asked;
  });

  test('is not made without leave', async () => {
    const { attempts, attempt } = byHand();
    const asked = makeHedge({ now_ms: () => now_ms, wait }).ask(attempt, () => null, 1_000);
    await advance(900);
    attempts[0]?.answer(answered('one'));
    expect(await asked).toEqual(answered('one'));
    expect(attempts).toHaveLength(1);
  });

  test.each([
    ['the server fails', failed(503)],
    ['it cannot be reached', { kind: 'unreachable' }],
    ['it asks for patience', failed(429, 300)],
  ] as [string, ModelAnswer][])(
    'follows where %s, and not before the time that was asked for',
    async (_, first) => {
      const { attempts, attempt } = byHand();
      const asked = makeHedge({ now_ms: () => now_ms, wait }).ask(attempt, yes, 1_000);
      attempts[0]?.answer(first);
      const pause_ms = first.kind === 'http_error' && first.retry_after_ms !== null ? 300 : 100;
      await advance(pause_ms - 1);
      expect(attempts).toHaveLength(1);
      await advance(1);
      expect(attempts).toHaveLength(2);
      attempts[1]?.answer(answered('two'));
      expect(await asked).toEqual(answered('two'));
      expect(released).toBe(1);
    },
  );

  test.each([
    ['the question was refused', failed(400)],
    ['the key was refused', failed(401)],
    ['the answer makes no sense', { kind: 'not_understood', usage: null }],
    ['the pause asked for is longer than the time', failed(429, 5_000)],
    ['the service stops', { kind: 'stopping' }],
  ] as [string, ModelAnswer][])('is not made where %s', async (_, first) => {
    const { attempts, attempt } = byHand();
    const asked = makeHedge({ now_ms: () => now_ms, wait }).ask(attempt, yes, 1_000);
    attempts[0]?.answer(first);
    expect(await asked).toEqual(first);
    await advance(10_000);
    expect(attempts).toHaveLength(1);
  });
});

test('whatever becomes of the attempts, there are at most two, one answer, and all that was taken is given back', async () => {
  const fate = fc.record({
    after_ms: fc.nat(1_500),
    answer: fc.constantFrom(answered('x'), failed(500), failed(429, 100), failed(400)),
  });
  await fc.assert(
    fc.asyncProperty(fate, fate, async (first, second) => {
      now_ms = 0;
      waits = [];
      const fates = [first, second];
      let taken = 0;
      let made = 0;
      const hedge = makeHedge({ now_ms: () => now_ms, wait });
      const answers: ModelAnswer[] = [];
      const asked = hedge
        .ask(
          (timeout_ms, signal) => {
            const { after_ms, answer } = fates[made++] as typeof first;
            return new Promise((resolve) => {
              void wait(Math.min(after_ms, timeout_ms), signal).then(() =>
                resolve(
                  signal.aborted
                    ? { kind: 'cancelled' }
                    : after_ms >= timeout_ms
                      ? { kind: 'timeout' }
                      : answer,
                ),
              );
            });
          },
          () => {
            taken += 1;
            return () => {
              taken -= 1;
            };
          },
          1_000,
        )
        .then((answer) => answers.push(answer));
      for (let i = 0; i < 30 && answers.length === 0; i++) await advance(50);
      await asked;
      await advance(2_000);
      expect(answers).toHaveLength(1);
      expect(answers[0]?.kind).not.toBe('cancelled');
      expect(made).toBeLessThanOrEqual(2);
      expect(taken).toBe(0);
    }),
    { numRuns: 60 },
  );
});
