import { setPriority } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { makeBuiltInAssessor } from '@purser/rules/purpose/built-in-assessor';
import { doReplayJob } from './replay-job.ts';
import { makeJobs } from './replay-jobs.ts';
import type { ThreadData, ToThread } from './replay-thread.ts';

/** As `nice` counts: decisions and PostgreSQL come first where processors are few. */
const PRIORITY = 10;
const assess = makeBuiltInAssessor((workerData as ThreadData).merchants);

// Elsewhere it would be that of the whole process.
if (process.platform === 'linux') setPriority(PRIORITY);

const take = makeJobs(
  (job, lines, goOn) => doReplayJob(job, lines, { assess, nextTurn: goOn }),
  nextTurn,
  (message) => parentPort?.postMessage(message),
);

parentPort?.on('message', (message: ToThread) => take(message));
