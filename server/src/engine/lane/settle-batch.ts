import { setTimeout as pause } from 'node:timers/promises';
import { ApiError, type RefusalReason } from '@purser/rules/errors';
import type { Logger } from 'pino';
import { isUnavailable, sqlState } from '../storage/database.ts';
import { type JobResult, UnknownCommit } from './batch.ts';
import { Stale } from './command.ts';
import { BrokenInvariant } from './invariants.ts';
import type { Part, Waiting } from './waiting-commands.ts';

/** A shared batch that fails after this long was blocked by one of its workspaces. */
const STUCK_MS = 2_500;
const ATTEMPTS = 3;
const FIRST_RETRY_MS = 10;
/** Serialization failure and deadlock: PostgreSQL rolled the transaction back, and a retry may succeed. */
const RETRYABLE = new Set(['40001', '40P01']);

/** The refusal of a command that was not carried out for a reason that may pass. */
export const unavailable = (message: string, reason: RefusalReason, cause?: unknown) =>
  new ApiError('unavailable', message, { retry_after_s: 1, reason, cause });
const outcomeUnknown = (cause: unknown) =>
  new ApiError(
    'unavailable',
    'The request may or may not have been carried out; retry with the same idempotency key.',
    { retry_after_s: 1, is_outcome_unknown: true, reason: 'commit_unknown', cause },
  );
const unforeseen = (cause: unknown) =>
  new ApiError('internal_error', 'An unexpected error occurred; nothing was carried out.', { cause });

const NOT_NOW = 'The service cannot write right now; nothing was carried out; retry.';

/** The parts of the lane that settling a batch uses. */
export interface Settling {
  /** Runs the batch once: the results of its parts, or null where another transaction has locked the workspace. */
  run: (parts: readonly Part[], wait: boolean) => Promise<(JobResult[] | null)[]>;
  log: Logger;
  random: () => number;
  now_ms: () => number;
  onFailed: (error: unknown) => void;
  /** Called with the parts of a shared batch that one of them may have blocked. */
  onStuck: (parts: readonly Part[]) => void;
  /** Called with the parts of a batch that was committed. */
  onSettled: (parts: readonly Part[]) => void;
}

/** The consequence of a failed batch: `answer` is the final refusal of all of its commands. */
type Verdict = { kind: 'retry' | 'split' } | { kind: 'answer'; message: string | null; answer: ApiError };

function judgeFailure(error: unknown, attempt: number, is_single: boolean): Verdict {
  const answer = (message: string | null, refusal: ApiError): Verdict => ({
    kind: 'answer',
    message,
    answer: refusal,
  });
  if (error instanceof ApiError && error.reason === 'clock') return answer(null, error);
  if (error instanceof UnknownCommit) return answer('a commit got no response', outcomeUnknown(error));
  const state = sqlState(error);
  const may_retry = state !== undefined && RETRYABLE.has(state);
  if (may_retry && attempt < ATTEMPTS) return { kind: 'retry' };
  if (may_retry || isUnavailable(error))
    return answer('a batch could not be written', unavailable(NOT_NOW, 'database', error));
  return is_single ? answer('a command could not be written', unforeseen(error)) : { kind: 'split' };
}

/** The workspaces of a batch, or the commands of its only workspace, so that all but the guilty ones succeed. */
function smallerParts(parts: readonly Part[]): readonly Part[] {
  const [only] = parts;
  if (parts.length > 1 || only === undefined) return parts;
  return only.jobs.map((job) => ({ workspace_id: only.workspace_id, jobs: [job] }));
}

/**
 * Runs a batch, with retries, until its result is final, and answers its commands. Parts whose workspaces are locked
 * are not answered but returned. Never throws.
 */
export async function settleBatch(lane: Settling, parts: readonly Part[], wait: boolean): Promise<Part[]> {
  const jobs = parts.flatMap((part) => part.jobs);
  for (let attempt = 1; ; attempt++) {
    const began_ms = lane.now_ms();
    try {
      const results = await lane.run(parts, wait);
      lane.onSettled(parts);
      return answerParts(lane, parts, results);
    } catch (error) {
      const verdict = judgeFailure(error, attempt, jobs.length === 1);
      const is_suspect = verdict.kind === 'answer' && verdict.message === null;
      if (!is_suspect) lane.onFailed(error);
      if (!is_suspect && parts.length > 1 && lane.now_ms() - began_ms >= STUCK_MS) lane.onStuck(parts);
      if (verdict.kind === 'retry') {
        await pause(FIRST_RETRY_MS * 2 ** attempt * (0.5 + lane.random()));
        continue;
      }
      if (verdict.kind === 'answer') {
        if (verdict.message !== null) logFailure(lane.log, parts, error, verdict.message);
        for (const job of jobs) job.reject(verdict.answer);
        return [];
      }
      for (const part of smallerParts(parts)) await settleBatch(lane, [part], true);
      return [];
    }
  }
}

/** Answers the commands of a committed batch. Returns the parts that were left out because their workspaces are locked. */
function answerParts(
  lane: Settling,
  parts: readonly Part[],
  results: readonly (JobResult[] | null)[],
): Part[] {
  return parts.filter((part, i) => {
    const answers = results[i];
    if (answers === null || answers === undefined) return true;
    for (const [k, job] of part.jobs.entries()) answer(lane, part, job, answers[k] as JobResult);
    return false;
  });
}

function answer(lane: Settling, part: Part, job: Waiting, result: JobResult): void {
  if (result.kind === 'done') job.resolve(result.value);
  else if (result.kind === 'stale') job.resolve(new Stale(result.current));
  else if (result.kind === 'refused') job.reject(new ApiError(result.refusal.code, result.refusal.message));
  else {
    const { error } = result;
    if (error instanceof BrokenInvariant) lane.onFailed(error);
    logFailure(lane.log, [{ ...part, jobs: [job] }], error, 'a command failed');
    job.reject(unforeseen(error));
  }
}

function logFailure(log: Logger, parts: readonly Part[], error: unknown, message: string): void {
  const workspace_ids = parts.map((part) => part.workspace_id);
  const commands = [...new Set(parts.flatMap(({ jobs }) => jobs.map((job) => job.command.name)))];
  const broken = error instanceof BrokenInvariant ? { invariant: error.invariant } : {};
  log.error({ err: error, workspace_ids, commands, ...broken }, message);
}
