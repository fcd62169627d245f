import { type Command, done, refuse } from '../../lane/command.ts';
import { NO_SUCH_IMPORT } from './start-import.ts';

/** Deletes an import with all its lines; only the chain still tells that it was there. */
export const deleteImport: Command<{ import_id: string }, null> = {
  name: 'deleteImport',
  needs: ({ import_id }) => ({ imports: [import_id] }),
  apply(set, { import_id }, origin) {
    const found = set.imported.import(import_id);
    if (found === undefined) return refuse('not_found', NO_SUCH_IMPORT);
    set.imported.deleteImport(import_id);
    const { file_name, source, feed } = found.row;
    set.audit('import.deleted', { type: 'import', id: import_id }, origin, {
      from: { file_name, source, feed, deleted: false },
      to: { file_name, source, feed, deleted: true },
      state: { import: found.row },
    });
    return done(null);
  },
};
