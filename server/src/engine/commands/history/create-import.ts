import type { ImportMapping } from '@purser/contract/history/imports';
import type { ImportSource } from '@purser/contract/values/history';
import { type ImportRow, newProgress } from '@purser/rules/imports/import-rows';
import { canonicalJson } from '@purser/rules/values/canonical-json';
import { type Command, done, refuse } from '../../lane/command.ts';

export interface CreateImportInput {
  file_name: string;
  source: ImportSource;
  feed: string;
  /** Id or slug; null: nobody's. */
  agent: string | null;
  mapping: ImportMapping | null;
  bytes: number | null;
}

/** Makes an import, whose file can then be sent. */
export const createImport: Command<CreateImportInput, ImportRow> = {
  name: 'createImport',
  needs: ({ agent }) => ({ agents: agent === null ? [] : [agent] }),
  apply(set, { agent: ref, mapping, ...fields }, origin) {
    const agent = ref === null ? null : set.agent(ref);
    if (agent === undefined) return refuse('not_found', 'No such agent.');
    const row: ImportRow = {
      import_id: set.newId('import'),
      ...fields,
      agent_id: agent?.agent_id ?? null,
      mapping: mapping === null ? null : canonicalJson(mapping),
      created_at: set.now,
      key_id: origin.actor.key_id,
      principal_id: origin.actor.principal_id,
    };
    set.imported.addImport(row, newProgress(row.import_id, set.now));
    const { file_name, source, feed, bytes } = fields;
    set.audit('import.created', { type: 'import', id: row.import_id }, origin, {
      from: null,
      to: { file_name, source, feed, agent: agent?.slug ?? null, bytes },
      state: { import: row },
    });
    return done(row);
  },
};
