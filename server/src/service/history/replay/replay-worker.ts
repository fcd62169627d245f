import { setPriority } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { ReplayedLine } from '@purser/rules/history/replay-lines';
import { makeBuiltInAssessor } from '@purser/rules/purpose/built-in-assessor';
import { doReplayJob, type ReplayJob } from './replay-job.ts';
import type { FromThread, ThreadData, ToThread } from './replay-thread.ts';

/** As `nice` counts: decisions and PostgreSQL come first where processors are few. */
const PRIORITY = 10;
const assess = makeBuiltInAssessor((workerData as ThreadData).merchants);
/** Jobs whose lines arrive. */
const open = new Map<number, { job: ReplayJob; lines: ReplayedLine[] }>();

// Elsewhere it would be that of the whole process.
if (process.platform === 'linux') setPriority(PRIORITY);

async function answerOf(id: number, job: ReplayJob, lines: ReplayedLine[]): Promise<FromThread> {
  try {
    return { id, result: await doReplayJob(job, lines, { assess, nextTurn }) };
  } catch (error) {
    return { id, error };
  }
}

parentPort?.on('message', (message: ToThread) => {
  const { id } = message;
  if ('job' in message) {
    open.set(id, { job: message.job, lines: [] });
    return;
  }
  const begun = open.get(id);
  if (begun === undefined) return;
  if ('lines' in message) {
    for (const line of message.lines) begun.lines.push(line);
    return;
  }
  open.delete(id);
  if (message.is_whole) {
    void answerOf(id, begun.job, begun.lines).then((answer) => parentPort?.postMessage(answer));
  }
});
