import { Type } from 'typebox';
import { Fields, Id, Nullable, OneOf, Timestamp, WholeNumber } from '../schema.ts';
import { KEY_KINDS } from '../values/keys.ts';
import { SCOPES } from '../values/scopes.ts';

const MIN_LIFE_SECONDS = 60;
const MAX_LIFE_SECONDS = 31_536_000;

/** How long a key lives, in seconds. */
export const KeyLife = (words: { description: string }) =>
  WholeNumber({ min: MIN_LIFE_SECONDS, max: MAX_LIFE_SECONDS }, words);

/** The fields of every key in an answer. */
export const KEY_FIELDS = {
  id: Id('api_key'),
  name: Type.String(),
  kind: OneOf(KEY_KINDS),
  scopes: Type.Array(OneOf(SCOPES)),
  agent_id: Nullable(Id('agent')),
  principal_id: Nullable(Type.String()),
  allowance_id: Nullable(
    Id('allowance', { description: 'The allowance that the key is bound to; null for every other key.' }),
  ),
  created_at: Timestamp(),
  expires_at: Nullable(Timestamp()),
  made_by: Fields(
    { key_id: Nullable(Id('api_key')), principal_id: Nullable(Type.String({ examples: ['user:ada'] })) },
    {
      $id: 'MadeBy',
      description:
        'The creator: a key, with its principal, or a person, with `key_id` null. Both are null for the operator.',
    },
  ),
  made_by_person: Nullable(
    Type.String({
      description:
        'The principal of the person at the root of the chain of creation: the person who created it, or who created the first of the keys that led to it. Null if there is no such person.',
      examples: ['user:ada'],
    }),
  ),
};

/** A new key with its value. */
export const NewKeyBody = Fields(
  { ...KEY_FIELDS, key: Type.String({ description: 'The value, shown only here.', pattern: '^sk_' }) },
  { $id: 'NewApiKey' },
);
