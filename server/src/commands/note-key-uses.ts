import type { KeyUse } from '../domain/keys.ts';
import { type Command, done } from '../lane/command.ts';

/** Notes when keys were last used. Not a part of history. */
export const noteKeyUses: Command<readonly KeyUse[], null> = {
  name: 'noteKeyUses',
  needs: () => ({}),
  apply(set, uses) {
    for (const use of uses) set.noteKeyUse(use);
    return done(null);
  },
};
