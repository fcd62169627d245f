import type { ImportFailure } from '@purser/rules/imports/import-rows';
import { type Command, done } from '../../lane/command.ts';
import { readingImport } from './record-lines.ts';

export interface FinishImportInput {
  import_id: string;
  run_id: string;
  status: 'DONE' | 'FAILED' | 'INTERRUPTED';
  failure: ImportFailure | null;
}

/** Ends an attempt to read a file. Without effect where another attempt has taken over, or the import is gone. */
export const finishImport: Command<FinishImportInput, null> = {
  name: 'finishImport',
  needs: ({ import_id }) => ({ imports: [import_id] }),
  apply(set, input, origin) {
    const found = readingImport(set, input);
    if (found === null) return done(null);
    const { status, failure, import_id } = input;
    const progress = {
      ...found.progress,
      status,
      failure: failure === null ? null : JSON.stringify(failure),
      alive_until: null,
      updated_at: set.now,
    };
    set.imported.putProgress(progress);
    if (status === 'INTERRUPTED') return done(null);
    const { taken, present, bad } = progress;
    set.audit('import.finished', { type: 'import', id: import_id }, origin, {
      from: null,
      to: { status, taken, present, bad, failure: failure?.code ?? null },
      state: { import: found.row },
    });
    return done(null);
  },
};
