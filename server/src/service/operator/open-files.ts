import { readFileSync } from 'node:fs';

/** Connections to the database, files of the program, the log and what the system needs: a process uses about 150. */
export const NEEDED_OPEN_FILES = 256;
/** A process takes up to 10,000 connections of clients, each of which is an open file. */
export const WANTED_OPEN_FILES = 10_500;

/** The most files that this process may open; null where the system does not tell it in `limits`, the text of /proc. */
export function openFilesIn(limits: string): number | null {
  const found = /^Max open files\s+(\d+|unlimited)/m.exec(limits)?.[1];
  if (found === undefined) return null;
  return found === 'unlimited' ? Number.POSITIVE_INFINITY : Number(found);
}

/** Returns why a process with this limit cannot work, or may refuse clients; null where the limit is enough. */
export function openFilesProblem(limit: number | null): { message: string; is_fatal: boolean } | null {
  if (limit === null || limit >= WANTED_OPEN_FILES) return null;
  const cure = 'raise it with LimitNOFILE in the unit or ulimit -n, to 65536 or more';
  if (limit < NEEDED_OPEN_FILES) {
    return {
      message: `The limit of open files is ${limit}, but Purser needs ${NEEDED_OPEN_FILES} to start and ${WANTED_OPEN_FILES} for all of its connections; ${cure}.`,
      is_fatal: true,
    };
  }
  const message = `the limit of open files is ${limit}, but a process needs ${WANTED_OPEN_FILES} for up to 10,000 connections; ${cure}`;
  return { message, is_fatal: false };
}

/** Reads the limit of this process; null where there is no /proc. */
export function readOpenFiles(): number | null {
  try {
    return openFilesIn(readFileSync('/proc/self/limits', 'utf8'));
  } catch {
    return null;
  }
}
