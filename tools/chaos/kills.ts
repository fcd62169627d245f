import { findViolations } from './invariants.ts';
import { between } from './random.ts';
import { type Finding, makeStage, type ScenarioContext } from './stage.ts';

const CLIENTS = 16;
/** A bound for what does not come back: on a busy machine it may take its time, and the figures tell how much. */
const BACK_WITHIN_MS = 60_000;
const ASKED_AGAIN = 200;

/** `kill -9` of the service under load, at random moments; the operator's supervisor starts it again. */
export async function killService(context: ScenarioContext): Promise<Finding> {
  const { random, share, say } = context;
  const rounds = Math.max(3, Math.round(100 * share));
  const stage = await makeStage(context);
  try {
    const recorder = stage.makeRecorder(CLIENTS);
    recorder.start();
    const back_ms: number[] = [];
    const problems: string[] = [];
    for (let round = 1; round <= rounds; round++) {
      await context.wait(between(random, 20, 800));
      await stage.serving.kill();
      const began_ms = performance.now();
      await stage.restart();
      if ((await recorder.nextAcknowledged(BACK_WITHIN_MS)) === null) {
        problems.push(`Round ${round}: no decision within ${BACK_WITHIN_MS} ms of the start.`);
      }
      back_ms.push(performance.now() - began_ms);
      if (round % 10 === 0) say(`  ${round} of ${rounds}: ${recorder.acknowledged()} acknowledged`);
    }
    await recorder.stop();
    problems.push(...(await findViolations(recorder, stage.client, await stage.database())));
    problems.push(...(await recorder.askAgain(ASKED_AGAIN, random)));
    const slowest = Math.round(Math.max(...back_ms));
    if (slowest > BACK_WITHIN_MS) problems.push(`It took ${slowest} ms to be back.`);
    return { figures: { rounds, ...shown(recorder.figures()), slowest_back_ms: slowest }, problems };
  } finally {
    await stage.close();
  }
}

/** `kill -9` of the embedded PostgreSQL under load; the service starts it again by itself. */
export async function killPostgres(context: ScenarioContext): Promise<Finding> {
  const { random, share, say } = context;
  const rounds = Math.max(2, Math.round(20 * share));
  const stage = await makeStage(context);
  try {
    const recorder = stage.makeRecorder(CLIENTS);
    recorder.start();
    const back_ms: number[] = [];
    const problems: string[] = [];
    for (let round = 1; round <= rounds; round++) {
      await context.wait(between(random, 300, 1_500));
      process.kill(await stage.postgresPid(), 'SIGKILL');
      // Answers that were on their way may still come in: what counts is the first one of the next server.
      await context.wait(100);
      const took_ms = await recorder.nextAcknowledged(BACK_WITHIN_MS);
      if (took_ms === null) problems.push(`Round ${round}: no decision within ${BACK_WITHIN_MS} ms.`);
      back_ms.push((took_ms ?? BACK_WITHIN_MS) + 100);
      if (round % 5 === 0) say(`  ${round} of ${rounds}: ${recorder.acknowledged()} acknowledged`);
    }
    await recorder.stop();
    problems.push(...(await findViolations(recorder, stage.client, await stage.database())));
    problems.push(...(await recorder.askAgain(ASKED_AGAIN, random)));
    return {
      figures: {
        rounds,
        ...shown(recorder.figures()),
        slowest_back_ms: Math.round(Math.max(...back_ms)),
      },
      problems,
    };
  } finally {
    await stage.close();
  }
}

/** Figures as they are printed: whole milliseconds. */
export function shown(figures: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, Math.round(value)]));
}
