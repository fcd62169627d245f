import { ApiError } from '@purser/rules/errors';
import type { Queryable } from '../../engine/storage/database.ts';
import type { Mac } from '../installation/secrets.ts';
import { type OfferedAccount, readSlackCode, saveSlackCode, takeSlackCode } from './slack-rows.ts';

/** The codes by which people link an account in Slack. The database has keyed digests alone, so no row makes a code. */
export interface SlackCodes {
  /** Makes a code for an account; its earlier ones are good no more. */
  make(workspace_id: string, account: OfferedAccount): Promise<string>;
  /** The account of a code. Throws `invalid_request` naming `code` if it is not good. */
  read(workspace_id: string, code: string): Promise<OfferedAccount>;
  /** The same, and uses the code up. */
  take(workspace_id: string, code: string): Promise<OfferedAccount>;
}

const wrongCode = () =>
  new ApiError(
    'invalid_request',
    'code: is unknown, used, expired or of another workspace; click a button in Slack again to get a new one.',
  );

/** Makes them. The first of `macs` makes digests; any of them may have made an earlier one. `newCode` is random. */
export function makeSlackCodes(options: {
  db: Queryable;
  macs: readonly [Mac, ...Mac[]];
  newCode: () => string;
}): SlackCodes {
  const { db, macs, newCode } = options;
  const digests = (workspace_id: string, code: string) => macs.map((mac) => mac(`${workspace_id}\n${code}`));
  const good = (found: OfferedAccount | undefined): OfferedAccount => {
    if (found === undefined) throw wrongCode();
    return found;
  };
  return {
    async make(workspace_id, account) {
      const code = newCode();
      await saveSlackCode(db, workspace_id, digests(workspace_id, code)[0] as Buffer, account);
      return code;
    },
    read: async (workspace_id, code) =>
      good(await readSlackCode(db, workspace_id, digests(workspace_id, code))),
    take: async (workspace_id, code) =>
      good(await takeSlackCode(db, workspace_id, digests(workspace_id, code))),
  };
}
