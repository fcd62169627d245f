import { type ImportRow, newProgress, statusAt } from '@purser/rules/imports/import-rows';
import { type Command, done, refuse } from '../../lane/command.ts';

export interface StartImportInput {
  import_id: string;
  /** Names the attempt to read the file. */
  run_id: string;
  /** How long the attempt may be silent. */
  seconds: number;
}

/** The answer where an import is gone. */
export const NO_SUCH_IMPORT = 'No such import.';

/** Begins to read a file from its beginning, whether or not it was read before. Lines that were taken stay. */
export const startImport: Command<StartImportInput, ImportRow> = {
  name: 'startImport',
  needs: ({ import_id }) => ({ imports: [import_id] }),
  apply(set, { import_id, run_id, seconds }) {
    const found = set.imported.import(import_id);
    if (found === undefined) return refuse('not_found', NO_SUCH_IMPORT);
    if (statusAt(found.progress, set.now) === 'READING')
      return refuse('import_in_progress', 'The file is being read already; wait until it is, or has failed.');
    set.imported.restart(import_id);
    set.imported.putProgress({
      ...newProgress(import_id, set.now),
      status: 'READING',
      run_id,
      alive_until: new Date(set.now_ms + seconds * 1000).toISOString(),
    });
    return done(found.row);
  },
};
