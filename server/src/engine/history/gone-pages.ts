import type { LedgerBreak, LedgerEvent } from '@purser/rules/domain/ledger';
import { isPage } from '@purser/rules/history/lines';

/** Maximum number of pages of one import that are named as gone. */
const MAX_GONE = 1_000;

/** Pages of lines that an export does not have. That is as it should be where their import was deleted later, and a break otherwise. */
export class GonePages {
  readonly #of_import = new Map<string, LedgerBreak[]>();

  /** Takes the next event. Returns whether it is the event of a page without its lines. */
  take(event: LedgerEvent, has_no_data: boolean): boolean {
    const { seq, type, subject_id } = event;
    if (type === 'import.deleted') this.#of_import.delete(subject_id);
    if (!isPage(event) || !has_no_data) return false;
    const known = this.#of_import.get(subject_id) ?? [];
    const detail = `The lines of import ${subject_id} are gone.`;
    if (known.length < MAX_GONE) known.push({ seq, kind: 'ROW_MISMATCH', detail });
    this.#of_import.set(subject_id, known);
    return true;
  }

  /** The pages whose import was never deleted. */
  breaks(): LedgerBreak[] {
    return [...this.#of_import.values()].flat();
  }
}
