import type { KeyUse } from '@purser/rules/domain/keys';
import { type Command, done } from '../lane/command.ts';

/** Stores when keys were last used. This is not part of the ledger. */
export const noteKeyUses: Command<readonly KeyUse[], null> = {
  name: 'noteKeyUses',
  needs: () => ({}),
  apply(set, uses) {
    for (const use of uses) set.keys.noteUse(use);
    return done(null);
  },
};
