import { timingSafeEqual } from 'node:crypto';
import { invalidField } from '@purser/rules/errors';
import { canonicalJson } from '@purser/rules/values/canonical-json';
import type { PageRows } from '../../engine/storage/pages.ts';
import type { Mac } from '../installation/secrets.ts';

/** Makes and reads the opaque `cursor` of lists. */
export interface Cursors {
  /**
   * Makes a cursor. `list` is everything that the page depends on (workspace, route, filters, order): no other list
   * accepts it.
   */
  seal(list: unknown, position: string | number): string;
  /** Returns the position of a cursor, or null if there is none. Throws `invalid_request` that names `cursor`. */
  open(list: unknown, cursor: string | undefined): string | number | null;
}

const MAC_BYTES = 16;

/**
 * Makes cursors that are authenticated by the first of these keys. Cursors that were made with one of the others are
 * still accepted. A cursor that was altered, or made for another list or workspace, is refused.
 */
export function makeCursors(macs: readonly [Mac, ...Mac[]]): Cursors {
  const mark = (mac: Mac, list: unknown, position: string) =>
    mac(`${canonicalJson(list)}\n${position}`).subarray(0, MAC_BYTES);
  return {
    seal(list, position) {
      const text = JSON.stringify(position);
      return Buffer.concat([mark(macs[0], list, text), Buffer.from(text)]).toString('base64url');
    },
    open(list, cursor) {
      if (cursor === undefined) return null;
      const bytes = Buffer.from(cursor, 'base64url');
      const text = bytes.subarray(MAC_BYTES).toString();
      // The decoder ignores invalid characters, but a cursor that was altered in any way has to be refused.
      const good =
        bytes.toString('base64url') === cursor &&
        bytes.length > MAC_BYTES &&
        macs.some((mac) => timingSafeEqual(bytes.subarray(0, MAC_BYTES), mark(mac, list, text)));
      if (!good) {
        throw invalidField(
          'cursor',
          'is not a next_cursor of this list with these filters; start again without it',
        );
      }
      return JSON.parse(text) as string | number;
    },
  };
}

/**
 * Returns a page and the cursor of the next one. The page has `limit` items of the up to `limit + 1` that were found,
 * or fewer if it is bounded in bytes.
 */
export function pageOf<Row>(
  found: readonly Row[] | PageRows<Row>,
  limit: number,
  cursorAfter: (last: Row) => string,
): { rows: Row[]; next_cursor: string | null } {
  const { rows, has_more } =
    'has_more' in found ? found : { rows: found.slice(0, limit), has_more: found.length > limit };
  const last = rows.at(-1);
  return { rows, next_cursor: has_more && last !== undefined ? cursorAfter(last) : null };
}
