import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Checkpoint, MAX_NOTE_BYTES } from '../domain/checkpoints.ts';

/**
 * Checkpoints as files, one a note: `<directory>/<workspace_id>/<seq>.txt`. They lie outside the database, so that
 * whoever can change that cannot change them too.
 */
export interface CheckpointFile {
  /** What the file's name says. */
  seq: number;
  /** Its text; longer than any note when it is none. */
  note: string;
}

const FILE_NAME = /^(\d{16})\.txt$/;
const WORKSPACE_NAME = /^ws_[0-9A-HJKMNP-TV-Z]{26}$/;

const fileName = (seq: number) => `${String(seq).padStart(16, '0')}.txt`;

/** `absent` when nothing is there of that name. Other failures throw: what cannot be read vouches for nothing. */
async function unlessAbsent<T, U>(reading: Promise<T>, absent: U): Promise<T | U> {
  try {
    return await reading;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return absent;
    throw error;
  }
}

const namesIn = (dir: string) => unlessAbsent(readdir(dir), []);

/** Null: there is no such file (any more). Nothing of a file that is too long to be a note is read. */
async function readNote(file: string): Promise<string | null> {
  const { size } = (await unlessAbsent(stat(file), null)) ?? {};
  if (size === undefined) return null;
  return size > MAX_NOTE_BYTES ? '' : unlessAbsent(readFile(file, 'utf8'), null);
}

/**
 * A workspace's newest checkpoint files, newest first. Nothing about them has been checked. Throws where a file
 * cannot be read; with `onUnreadable` that is told why, and the file has no note.
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
    // Thinned out by another process meanwhile: not a loss.
    if (note === null) continue;
    files.push({ seq: Number(FILE_NAME.exec(name)?.[1]), note });
  }
  return files;
}

/** The workspaces of which there are checkpoint files. */
export async function listFiledWorkspaces(dir: string): Promise<string[]> {
  return (await namesIn(dir)).filter((name) => WORKSPACE_NAME.test(name)).sort();
}

/** Whether there is a checkpoint file of that place in the chain. Throws where that cannot be told. */
export async function hasCheckpointFile(dir: string, workspace_id: string, seq: number): Promise<boolean> {
  return (await unlessAbsent(stat(join(dir, workspace_id, fileName(seq))), null)) !== null;
}

/** One checkpoint may be kept twice at a time. */
let drafts = 0;

/** Keeps a checkpoint as a file, whole or not at all, also through a crash. */
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

/** Removes checkpoint files that others stand in for. Throws, after all were tried, where one could not be removed. */
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
