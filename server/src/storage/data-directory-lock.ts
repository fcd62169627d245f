import { randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { constants, copyFile, link, open, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isAlive, processStartTime } from './process-identity.ts';

const LOCK_FILE = 'purser.lock';
/** The holder touches its lock this often. */
const BEAT_MS = 2_000;
/** A lock that is not touched for this long is dead, where its holder cannot be looked for. */
const SILENCE_MS = 10_000;
/** So old that it need not be watched, even if another machine's clock made it. */
const LONG_AGO_MS = 60_000;
const POLL_MS = 250;
const MAX_TRIES = 20;

/** Names one process for good: its id, when it started, and where that id has a meaning. */
interface Holder {
  pid: number;
  start_time: string | null;
  /** Changes with each start of the machine. */
  boot_id: string | null;
  /** Containers count their processes each for itself. */
  pid_namespace: string | null;
  /** Tells two locks of one process apart. */
  token: string;
}

function readOrNull(read: () => string): string | null {
  try {
    return read().trim();
  } catch {
    return null;
  }
}

function ourselves(): Holder {
  return {
    pid: process.pid,
    start_time: processStartTime(process.pid),
    boot_id: readOrNull(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
    pid_namespace: readOrNull(() => readlinkSync('/proc/self/ns/pid')),
    token: randomBytes(8).toString('hex'),
  };
}

function parseHolder(text: string): Holder | null {
  try {
    const value = JSON.parse(text) as Partial<Holder> | null;
    return typeof value?.pid === 'number' ? (value as Holder) : null;
  } catch {
    return null;
  }
}

/** Whether somebody touches the lock while we look. */
async function isTouched(file: string, onWait: () => void): Promise<boolean> {
  const first = await stat(file).catch(() => null);
  if (first === null || Date.now() - first.mtimeMs > LONG_AGO_MS) return false;
  onWait();
  for (let waited_ms = 0; waited_ms < SILENCE_MS; waited_ms += POLL_MS) {
    await wait(POLL_MS);
    const now = await stat(file).catch(() => null);
    if (now === null) return false;
    if (now.mtimeMs !== first.mtimeMs) return true;
  }
  return false;
}

/** Who holds the lock, in words; null when its holder is gone. */
async function liveHolder(file: string, text: string, onWait: () => void): Promise<string | null> {
  const holder = parseHolder(text);
  const here = ourselves();
  if (holder !== null && holder.boot_id === here.boot_id && holder.pid_namespace === here.pid_namespace) {
    const is_live = isAlive(holder.pid) && processStartTime(holder.pid) === holder.start_time;
    return is_live ? `another Purser service, process ${holder.pid}` : null;
  }
  // Another container or machine, whose processes we cannot see, or a lock that is not written completely.
  const who = holder === null ? 'another process' : `process ${holder.pid} of another container or machine`;
  return (await isTouched(file, onWait)) ? who : null;
}

/** Removes exactly the lock that was found dead, not one that took its place meanwhile. */
async function removeDead(file: string, dead_text: string): Promise<void> {
  const aside = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    await rename(file, aside);
  } catch {
    return;
  }
  try {
    if ((await readFile(aside, 'utf8')) !== dead_text) await link(aside, file);
  } catch {
    // Somebody else has taken the place; who is in it settles the rest.
  } finally {
    await rm(aside, { force: true });
  }
}

/** Puts a complete lock in place unless there is one. */
async function place(draft: string, file: string): Promise<boolean> {
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
  }
  // Some file systems have no hard links; a half-copied lock is watched before it is taken for dead.
  try {
    await copyFile(draft, file, constants.COPYFILE_EXCL);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Takes the lock `purser.lock` of a data directory for this process, or says who holds it. A lock whose process
 * is gone (killed, a machine that was started again, a container that was replaced and has the same process
 * ids) is recognised and replaced. `release` removes the lock if it is still ours.
 */
export async function lockDataDirectory(
  data_dir: string,
  options: { onWait?: (message: string) => void; onLockLost?: () => void },
): Promise<{ release: () => Promise<void> } | { held_by: string }> {
  const file = join(data_dir, LOCK_FILE);
  const text = `${JSON.stringify(ourselves())}\n`;
  const isOurs = async () => (await readFile(file, 'utf8').catch(() => null)) === text;
  const onWait = () => {
    const seconds = SILENCE_MS / 1000;
    options.onWait?.(`${file} may belong to a running service; watching it for up to ${seconds} seconds`);
  };

  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  const handle = await open(draft, 'wx', 0o600);
  await handle.writeFile(text).finally(() => handle.close());
  try {
    let has_replaced = false;
    for (let tries = 0; ; tries += 1) {
      if (tries === MAX_TRIES) return { held_by: 'several processes that start at the same time' };
      if (await place(draft, file)) {
        // Two processes that replace one dead lock at the same moment settle it here.
        if (has_replaced) await wait(100);
        if (await isOurs()) break;
        continue;
      }
      const found = await readFile(file, 'utf8').catch(() => null);
      if (found === null) continue;
      const held_by = await liveHolder(file, found, onWait);
      if (held_by !== null) return { held_by };
      await removeDead(file, found);
      has_replaced = true;
    }
  } finally {
    await rm(draft, { force: true });
  }

  const beat = async () => {
    if (await isOurs()) {
      const now = new Date();
      await utimes(file, now, now);
    } else {
      clearInterval(timer);
      options.onLockLost?.();
    }
  };
  const timer = setInterval(() => void beat().catch(() => undefined), BEAT_MS);
  timer.unref();
  return {
    release: async () => {
      clearInterval(timer);
      if (await isOurs()) await rm(file, { force: true });
    },
  };
}
