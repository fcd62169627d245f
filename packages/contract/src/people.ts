import { Type } from 'typebox';
import { TEXT_LENGTHS } from './limits.ts';
import { Fields, Formed, Id, Line, Nullable, OneOf, Timestamp, TimeZone } from './schema.ts';
import { EMAIL } from './values/people.ts';
import { ROLES, SCOPES } from './values/scopes.ts';

/** An e-mail that somebody is to be known by. */
export const EmailIn = () =>
  Formed(`^\\s*${EMAIL.source.slice(1, -1)}\\s*$`, 'must be an e-mail address', {
    description: 'Compared in lower case.',
    examples: ['ada@example.com'],
  });

/** A person's name. */
export const PersonName = () => Line({ max: TEXT_LENGTHS.name }, { examples: ['Ada Lovelace'] });

/** An old or a new password. `passwordProblem` has the rules for new ones. */
export const PasswordIn = (description: string) => Type.String({ maxLength: 4_096, description });

export const NEW_PASSWORD =
  '12 to 256 characters; refused if it is a common password, the e-mail or the name.';

/** A secret in a link or of a terminal. */
export const TokenIn = (description: string) => Type.String({ maxLength: 512, description });

/** A member's absence. */
export const AwayBody = Fields(
  {
    until: Timestamp(),
    delegate: Type.String({ description: 'The principal who may use their place.', examples: ['user:bo'] }),
  },
  { $id: 'Away' },
);

/** The signed-in person, their workspace and role. */
export const MeBody = Fields(
  {
    user: Fields({ id: Id('user'), email: Type.String(), name: Type.String() }),
    has_password: Type.Boolean({
      description: 'False if they sign in with a passkey or through the identity provider.',
    }),
    workspace: Nullable(
      Fields(
        {
          id: Id('workspace'),
          name: Type.String(),
          time_zone: TimeZone({ description: 'The time zone in which the console shows days and times.' }),
        },
        {
          description:
            'The current workspace of the session. Null, like `role` and `principal_id`, if they have yet to accept a membership.',
        },
      ),
    ),
    role: Nullable(OneOf(ROLES)),
    scopes: Type.Array(OneOf(SCOPES)),
    principal_id: Nullable(
      Type.String({
        description: 'The principal that their reviews are attributed to.',
        examples: ['user:ada'],
      }),
    ),
    away: Nullable(AwayBody),
    session: Fields({ id: Id('session'), created_at: Timestamp(), expires_at: Timestamp() }),
    workspaces: Type.Array(
      Fields({
        id: Id('workspace'),
        name: Type.String(),
        role: OneOf(ROLES),
        status: OneOf(['active', 'pending'], {
          description:
            '`pending`: they were added before their e-mail was verified, and have yet to accept or decline.',
        }),
      }),
    ),
  },
  { $id: 'Me' },
);

/** The browser's result for a challenge signed by a passkey. */
export const AuthenticatorAnswer = Type.Object(
  {
    id: Type.String({ maxLength: 2_048 }),
    rawId: Type.String({ maxLength: 2_048 }),
    type: Type.String(),
    response: Type.Object({}, { additionalProperties: true }),
  },
  {
    $id: 'AuthenticatorAnswer',
    additionalProperties: true,
    description: 'The result of `navigator.credentials.get`, in its JSON form.',
  },
);
