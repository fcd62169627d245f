import { MAX_PROBLEMS, type SkipReason } from '@purser/contract/values/history';
import { isSameContent, type LineRow, type NewLine, pageDataHash } from '@purser/rules/history/lines';
import type {
  ImportProblemRow,
  ImportProgress,
  ImportRow,
  SkipCounts,
} from '@purser/rules/imports/import-rows';
import { type Command, done, refuse } from '../../lane/command.ts';
import type { WorkingSet } from '../../lane/working-set.ts';
import { NO_SUCH_IMPORT } from './start-import.ts';

/** A bad line. */
export type NewProblem = Omit<ImportProblemRow, 'import_id' | 'place'>;

export interface RecordLinesInput {
  import_id: string;
  run_id: string;
  /** 1, 2, 3, … within the attempt. */
  page: number;
  /** At most `MAX_PAGE_LINES`. `was_seen`: this attempt had a line of this identity before. */
  lines: readonly { line: NewLine; was_seen: boolean; text: string }[];
  problems: readonly NewProblem[];
  skipped: readonly SkipReason[];
  bytes_read: number;
  header: string | null;
  header_hash: string | null;
  /** How long the attempt may be silent from now on. */
  seconds: number;
}

/** `too_many_problems`: there are more bad lines than are kept, and the file has failed. */
export interface RecordedPage {
  taken: number;
  present: number;
  bad: number;
  /** How many lines are new to the workspace. */
  added: number;
  too_many_problems: boolean;
}

const NOTHING_NEW: RecordedPage = { taken: 0, present: 0, bad: 0, added: 0, too_many_problems: false };

const CHANGED = {
  column_name: null,
  code: 'LINE_CHANGED',
  message: 'says something else than the line of the same id that is known; the known one stays',
} as const;

/** Sorts the lines of a page into new ones, those that are known, and those that contradict one that is. */
function sortLines(set: WorkingSet, { import_id, lines }: RecordLinesInput) {
  const added: LineRow[] = [];
  const changed: NewProblem[] = [];
  let [taken, present] = [0, 0];
  const by_key = new Map<string, LineRow>();
  const seq = set.head.seq + 1;
  for (const { line, was_seen, text } of lines) {
    const key = `${line.feed} ${line.identity}`;
    const known = by_key.get(key) ?? set.imported.line(line);
    if (known === undefined) {
      const row = {
        line_id: set.newId('line'),
        seq,
        import_id,
        rail_id: null,
        ...line,
        recorded_at: set.now,
      };
      by_key.set(key, row);
      added.push(row);
      taken += 1;
    } else if (!isSameContent(known, line)) {
      changed.push({ ...CHANGED, line_number: line.line_number ?? 0, text });
      // An attempt that was interrupted has taken its lines already; another line of the same id is present.
    } else if (known.import_id === import_id && !was_seen && !added.includes(known)) taken += 1;
    else present += 1;
  }
  return { added, changed, taken, present };
}

function withSkipped(counts: string, skipped: readonly SkipReason[]): string {
  const all = JSON.parse(counts) as SkipCounts;
  for (const reason of skipped) all[reason] = (all[reason] ?? 0) + 1;
  return JSON.stringify(Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1))));
}

/** The progress after a page, with the problems that are kept. */
function afterPage(
  set: WorkingSet,
  progress: ImportProgress,
  input: RecordLinesInput,
  { changed, taken, present }: ReturnType<typeof sortLines>,
): { progress: ImportProgress; problems: ImportProblemRow[]; too_many: boolean } {
  const all = [...input.problems, ...changed].sort((a, b) => a.line_number - b.line_number);
  const kept = all.slice(0, MAX_PROBLEMS - progress.bad);
  const { import_id, bytes_read, header, header_hash, seconds } = input;
  return {
    problems: kept.map((problem, i) => ({ import_id, place: progress.bad + i + 1, ...problem })),
    too_many: kept.length < all.length,
    progress: {
      ...progress,
      alive_until: new Date(set.now_ms + seconds * 1000).toISOString(),
      bytes_read,
      pages: input.page,
      header,
      header_hash,
      taken: progress.taken + taken,
      present: progress.present + present,
      bad: progress.bad + kept.length,
      skipped: withSkipped(progress.skipped, input.skipped),
      updated_at: set.now,
    },
  };
}

/** Finds the import that an attempt is reading. */
export function readingImport(
  set: WorkingSet,
  { import_id, run_id }: { import_id: string; run_id: string },
): { row: ImportRow; progress: ImportProgress } | null {
  const found = set.imported.import(import_id);
  const { status, run_id: current } = found?.progress ?? {};
  return found !== undefined && status === 'READING' && current === run_id ? found : null;
}

/**
 * Records a page of a file: lines that no feed has yet, sealed by one event, and what is wrong with others. Refused where another
 * attempt has taken over, or the import is gone.
 */
export const recordLines: Command<RecordLinesInput, RecordedPage> = {
  name: 'recordLines',
  needs: ({ import_id, lines }) => ({
    imports: [import_id],
    lines: lines.map(({ line: { feed, identity } }) => ({ feed, identity })),
  }),
  apply(set, input) {
    const { import_id } = input;
    if (set.imported.import(import_id) === undefined) return refuse('not_found', NO_SUCH_IMPORT);
    const found = readingImport(set, input);
    if (found === null)
      return refuse('import_in_progress', 'Another attempt to read the file has taken over.');
    // Recorded before; its answer was lost.
    if (found.progress.pages >= input.page) return done(NOTHING_NEW);
    const sorted = sortLines(set, input);
    const { progress, problems, too_many } = afterPage(set, found.progress, input, sorted);
    if (sorted.added.length > 0) {
      set.imported.addLines(sorted.added);
      set.append('lines.recorded', 'import', import_id, pageDataHash(sorted.added));
    }
    if (problems.length > 0) set.imported.addProblems(problems);
    set.imported.putProgress(progress);
    const { added, taken, present } = sorted;
    return done({
      taken,
      present,
      bad: problems.length,
      added: added.length,
      too_many_problems: too_many,
    });
  },
};
