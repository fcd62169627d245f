import { timingSafeEqual } from 'node:crypto';
import { invalidField } from '../errors.ts';
import type { Mac } from '../secrets.ts';
import type { PageRows } from '../storage/pages.ts';
import { canonicalJson } from '../values/canonical-json.ts';

/** Makes and reads the opaque `cursor` of lists. */
export interface Cursors {
  /** `list`: everything the page depends on (workspace, route, filters, order), so that no other list takes it. */
  seal(list: unknown, position: string | number): string;
  /** The position a cursor names, or null without a cursor. Throws `invalid_request` naming `cursor`. */
  open(list: unknown, cursor: string | undefined): string | number | null;
}

const MAC_BYTES = 16;

/** Cursors marked by the first of these, or earlier by another: one that was altered, or made for another list or workspace, is refused. */
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
      // The decoder overlooks stray characters; a cursor that was touched in any way is refused.
      const good =
        bytes.toString('base64url') === cursor &&
        bytes.length > MAC_BYTES &&
        macs.some((mac) => timingSafeEqual(bytes.subarray(0, MAC_BYTES), mark(mac, list, text)));
      if (!good) {
        throw invalidField(
          'cursor',
          'is not a next_cursor of this list with these filters; begin again without it',
        );
      }
      return JSON.parse(text) as string | number;
    },
  };
}

/**
 * A page and the cursor of the next one: `limit` items out of up to `limit + 1` that were found, or those that a page
 * which is bounded in bytes has room for.
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
