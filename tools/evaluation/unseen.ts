import { appendFile, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Files whose cases nobody looked at while the assessor was made. One of the runs was read after their totals: see decision 176. */
const UNSEEN: ReadonlySet<string> = new Set([
  'trades-unseen.jsonl',
  'apart-held-out.jsonl',
  'desks-held-out.jsonl',
  'month-second.jsonl',
  'month-third.jsonl',
  'runs-unseen.jsonl',
]);

/** Who looks more often begins to tune on what was put aside to judge by. */
export const MAX_LOOKS = 5;

/** From `tools/dist/evaluation`, where the program runs. */
const LOOKS = fileURLToPath(new URL('../../evaluation/looks-at-unseen.txt', import.meta.url));

/** True for a file of unseen cases, by its name. */
export const isUnseen = (file: string): boolean => UNSEEN.has(basename(file));

/** How often the totals of the unseen cases were looked at. */
export async function countLooks(file = LOOKS): Promise<number> {
  const lines = (await readFile(file, 'utf8')).split('\n');
  return lines.filter((line) => line.trim() !== '' && !line.startsWith('#')).length;
}

/**
 * Writes down that the totals of the unseen cases are looked at, before they are told, and returns how many looks that makes.
 * Throws `TypeError` without a reason, and where they were looked at `MAX_LOOKS` times.
 */
export async function recordLook(
  { day, method, why }: { day: string; method: string; why: string },
  file = LOOKS,
): Promise<number> {
  const reason = why.replace(/\s+/g, ' ').trim();
  if (reason === '') throw new TypeError('--unseen needs a reason in words, which is written down.');
  const looks = await countLooks(file);
  if (looks >= MAX_LOOKS) {
    throw new TypeError(
      `The unseen cases were looked at ${looks} times, and ${MAX_LOOKS} is all they bear: ${file} says when and why. Put new ones aside.`,
    );
  }
  await appendFile(file, `${day}; ${method}; ${reason}\n`);
  return looks + 1;
}

/** Looks at the month of files that are put aside. From `tools/dist/evaluation`, where the program runs. */
const MONTH_LOOKS = fileURLToPath(new URL('../../evaluation/looks-at-months.txt', import.meta.url));

/**
 * Writes down that the month of a file that is put aside is looked at, before it is shown. Throws `TypeError` without a
 * reason, and where the file was looked at before: each is used once.
 */
export async function recordMonthLook(
  { day, method, file, why }: { day: string; method: string; file: string; why: string },
  looks = MONTH_LOOKS,
): Promise<void> {
  const reason = why.replace(/\s+/g, ' ').trim();
  if (reason === '') throw new TypeError('--unseen needs a reason in words, which is written down.');
  const lines = (await readFile(looks, 'utf8')).split('\n');
  if (lines.some((line) => line.split('; ')[1] === file)) {
    throw new TypeError(
      `The month of ${file} was looked at before: ${looks} says when and why. Put new cases aside.`,
    );
  }
  await appendFile(looks, `${day}; ${file}; ${method}; ${reason}\n`);
}

/**
 * What a test may tell of floors that do not hold: of seen cases which ones and by how much, of unseen ones only that
 * there are any, since each figure that is told wears them out.
 */
export const problemsToShow = (name: string, broken: readonly string[]): readonly string[] =>
  isUnseen(name) && broken.length > 0 ? ['a floor does not hold'] : broken;
