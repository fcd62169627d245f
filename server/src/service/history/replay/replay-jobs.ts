import type { ReplayedLine } from '@purser/rules/history/replay-lines';
import type { NextTurn } from './propose.ts';
import type { ReplayJob } from './replay-job.ts';
import type { FromThread, ToThread } from './replay-thread.ts';

/** Does a job whose lines are whole, in turns. */
export type DoJob = (job: ReplayJob, lines: ReplayedLine[], nextTurn: NextTurn) => Promise<unknown>;

/**
 * Makes the thread's side of its messages: it collects the lines of each job, does the job, and answers once. A job that is dropped
 * ends at its next turn.
 */
export function makeJobs(
  doJob: DoJob,
  nextTurn: NextTurn,
  answer: (message: FromThread) => void,
): (message: ToThread) => void {
  /** Jobs whose lines arrive. */
  const open = new Map<number, { job: ReplayJob; lines: ReplayedLine[] }>();
  /** Jobs that are done now. */
  const working = new Set<number>();

  async function work(id: number, job: ReplayJob, lines: ReplayedLine[]): Promise<void> {
    working.add(id);
    const goOn = async () => {
      await nextTurn();
      if (!working.has(id)) throw new Error('The job was dropped.');
    };
    try {
      answer({ id, result: await doJob(job, lines, goOn) });
    } catch (error) {
      answer({ id, error });
    } finally {
      working.delete(id);
    }
  }

  return (message) => {
    const { id } = message;
    if ('job' in message) {
      open.set(id, { job: message.job, lines: [] });
      return;
    }
    const begun = open.get(id);
    if ('lines' in message) {
      for (const line of message.lines) begun?.lines.push(line);
      return;
    }
    open.delete(id);
    if (message.ends === 'dropped') working.delete(id);
    else if (begun !== undefined) void work(id, begun.job, begun.lines);
  };
}
