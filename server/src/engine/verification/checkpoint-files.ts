import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Checkpoint, MAX_NOTE_BYTES } from '@purser/rules/domain/checkpoints';

/**
 * A checkpoint file, `<directory>/<workspace_id>/<seq>.txt`, which holds one signed note. The files are outside the
 * database, so that access to the database alone is not enough to change them.
 */
export interface CheckpointFile {
  /** The `seq` in the name of the file. */
  seq: number;
  /** The text of the file; empty if it is too long to be a note or cannot be read. */
  note: string;
}

const FILE_NAME = /^(\d{16})\.txt$/;
const WORKSPACE_NAME = /^ws_[0-9A-HJKMNP-TV-Z]{26}$/;

const fileName = (seq: number) => `${String(seq).padStart(16, '0')}.txt`;

/** Returns `absent` if the file does not exist. Other failures are thrown, since an unreadable file proves nothing. */
async function unlessAbsent<T, U>(reading: Promise<T>, absent: U): Promise<T | U> {
  try {
    return await reading;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return absent;
    throw error;
  }
}

const namesIn = (dir: string) => unlessAbsent(readdir(dir), []);

/** Returns null if the file does not exist (any more), and an empty text without reading it if it is too long. */
async function readNote(file: string): Promise<string | null> {
  const { size } = (await unlessAbsent(stat(file), null)) ?? {};
  if (size === undefined) return null;
  return size > MAX_NOTE_BYTES ? '' : unlessAbsent(readFile(file, 'utf8'), null);
}

/**
 * Returns a workspace's newest checkpoint files, newest first, without verifying them. Throws if a file cannot be read,
 * unless `onUnreadable` is given: it is then called with the error, and the note of the file is empty.
 */
export async function loadCheckpointFiles(
  dir: string,
  workspace_id: string,
  limit: number,
  onUnreadable: (error: unknown) => void = (error) => {
    throw error;
  },
): Promise<CheckpointFile[]> {
  const folder = join(dir, workspace_id);
  const names = (await namesIn(folder)).filter((name) => FILE_NAME.test(name));
  const newest = names.sort().reverse().slice(0, limit);
  const files: CheckpointFile[] = [];
  for (const name of newest) {
    const note = await readNote(join(folder, name)).catch((error: unknown) => {
      onUnreadable(error);
      return '';
    });
    // Another process has pruned this file meanwhile.
    if (note === null) continue;
    files.push({ seq: Number(FILE_NAME.exec(name)?.[1]), note });
  }
  return files;
}

/** Returns the workspaces that have checkpoint files. */
export async function listFiledWorkspaces(dir: string): Promise<string[]> {
  return (await namesIn(dir)).filter((name) => WORKSPACE_NAME.test(name)).sort();
}

/** Returns whether there is a checkpoint file for the event `seq`. Throws if the directory cannot be read. */
export async function hasCheckpointFile(dir: string, workspace_id: string, seq: number): Promise<boolean> {
  return (await unlessAbsent(stat(join(dir, workspace_id, fileName(seq))), null)) !== null;
}

/** Numbers the drafts, since the same checkpoint may be written twice at the same time. */
let drafts = 0;

/** Writes a checkpoint to its file, completely or not at all, also if the process crashes. */
export async function putCheckpointFile(dir: string, checkpoint: Checkpoint): Promise<void> {
  const folder = join(dir, checkpoint.workspace_id);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, fileName(checkpoint.seq));
  drafts += 1;
  const draft = `${file}.${process.pid}.${drafts}.draft`;
  try {
    const handle = await open(draft, 'w', 0o600);
    try {
      await handle.writeFile(checkpoint.note);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
}

/** Removes pruned checkpoint files. Tries all of them, then throws the first failure. */
export async function removeCheckpointFiles(
  dir: string,
  workspace_id: string,
  seqs: readonly number[],
): Promise<void> {
  const failures: unknown[] = [];
  for (const seq of seqs)
    await rm(join(dir, workspace_id, fileName(seq)), { force: true }).catch((error: unknown) =>
      failures.push(error),
    );
  if (failures.length > 0) throw failures[0];
}
