import type { WorkingSet } from '../../lane/working-set.ts';
import type { LineFacts } from '../../matching/resolution-rows.ts';

/** Returns a line that the command needs by `line_facts`; undefined where there is none, or its import is deleted in this batch. */
export function knownLine(set: WorkingSet, line_id: string): LineFacts | undefined {
  const line = set.resolved_lines.line(line_id);
  const is_gone = line?.import_id != null && set.imported.changes.deleted_imports.has(line.import_id);
  return is_gone ? undefined : line;
}
