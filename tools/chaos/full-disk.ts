import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findViolations } from './invariants.ts';
import { shown } from './kills.ts';
import { type Finding, makeStage, type ScenarioContext } from './stage.ts';

const run = promisify(execFile);

const SIZE_MB = 400;
const BACK_WITHIN_MS = 15_000;

/** Takes all the space that is left. */
async function fillUp(file: string): Promise<void> {
  const handle = await open(file, 'w');
  const block = Buffer.alloc(1024 * 1024);
  try {
    for (;;) await handle.write(block);
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOSPC') throw error;
  } finally {
    await handle.close();
  }
}

/** PostgreSQL's disk is full for a while: 503 meanwhile, nothing half-written, and recovery when there is space. */
export async function fullDisk(context: ScenarioContext): Promise<Finding> {
  const dir = await mkdtemp(join(tmpdir(), 'purser-disk-'));
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE_MB}m,mode=0755`, 'tmpfs', dir]);
  } catch {
    await rm(dir, { recursive: true, force: true });
    return {
      figures: {},
      problems: [],
      skipped: 'a file system of a fixed size can be mounted by root alone',
    };
  }
  try {
    const data_dir = join(dir, 'data');
    await mkdir(data_dir);
    const stage = await makeStage(context, { LOG_LEVEL: 'warn' }, data_dir);
    try {
      const recorder = stage.makeRecorder(16);
      recorder.start();
      await context.wait(1_500);
      const problems: string[] = [];
      const before = recorder.figures();
      const isReady = async () => (await stage.client.send('GET', '/readyz')).status === 200;
      if (!(await isReady())) problems.push('It was not ready before the disk was full.');
      await fillUp(join(dir, 'ballast'));
      await context.wait(6_000);
      const during = recorder.figures();
      if (await isReady()) problems.push('/readyz was 200 while every write was refused.');
      await rm(join(dir, 'ballast'));
      if ((await recorder.nextAcknowledged(BACK_WITHIN_MS)) === null) {
        problems.push(`No decision within ${BACK_WITHIN_MS} ms after there was space again.`);
      }
      // Readiness is looked at no more than once a second.
      await context.wait(1_500);
      if (!(await isReady())) problems.push('/readyz was not 200 again when writes were.');
      await recorder.stop();
      problems.push(...(await findViolations(recorder, stage.client, await stage.database())));
      const refused = during.unavailable - before.unavailable;
      if (refused === 0) problems.push('Nothing was refused while the disk was full: it was not.');
      return { figures: { refused_while_full: refused, ...shown(recorder.figures()) }, problems };
    } finally {
      await stage.close();
    }
  } finally {
    await run('umount', ['-l', dir]).catch(() => undefined);
    await rm(dir, { recursive: true, force: true });
  }
}
