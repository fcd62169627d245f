import { Type } from 'typebox';
import type { ErrorCode } from '../../errors.ts';
import {
  AuthenticatorAnswer,
  EmailIn,
  MeBody,
  NEW_PASSWORD,
  PasswordIn,
  PersonName,
  TokenIn,
} from '../../people.ts';
import { route } from '../../route.ts';
import { Fields, Nullable, OneOf, Timestamp } from '../../schema.ts';
import { ROLES } from '../../values/scopes.ts';

const OptionsBody = Fields(
  {
    setup: Type.Boolean({
      description: 'True while no account exists: the first administrator has yet to be created.',
    }),
    password: Type.Boolean(),
    passkey: Type.Boolean(),
    oidc: Nullable(Fields({ name: Type.String({ examples: ['Okta'] }) })),
    mail: Type.Boolean({
      description: 'True if the service sends mail, so that a password link can be mailed.',
    }),
  },
  { $id: 'SignInOptions' },
);

const SetUpBody = Fields({
  code: TokenIn('The set-up code that the service printed at start.'),
  email: EmailIn(),
  name: PersonName(),
  password: PasswordIn(NEW_PASSWORD),
});

const SignInBody = Fields({
  email: Type.String({ maxLength: 512, examples: ['ada@example.com'] }),
  password: PasswordIn('The password.'),
});

const ChangePasswordBody = Fields({
  current_password: PasswordIn('The current password.'),
  new_password: PasswordIn(NEW_PASSWORD),
});

const ReauthenticateBody = Fields({
  password: Type.Optional(PasswordIn('The password; or `passkey`.')),
  passkey: Type.Optional(AuthenticatorAnswer),
});

const AcceptBody = Fields({
  token: TokenIn('From the link of the invitation.'),
  name: PersonName(),
  password: PasswordIn(`${NEW_PASSWORD} If the e-mail already has an account, the password of that account.`),
});

const ReadInvitationBody = Fields({ token: TokenIn('From the link of the invitation.') });

const InvitationSummaryBody = Fields(
  {
    workspace_name: Type.String({ examples: ['Acme Treasury'] }),
    inviter: Nullable(
      Type.String({
        description: 'The name of the member who invited. Null if the operator or a key did.',
        examples: ['Ada Lovelace'],
      }),
    ),
    email: Type.String({ examples: ['bo@example.com'] }),
    role: OneOf(ROLES),
    expires_at: Timestamp(),
  },
  { $id: 'InvitationSummary' },
);

const ForgotBody = Fields({ email: EmailIn() });

const ResetBody = Fields({
  token: TokenIn('From the link that was mailed, or that the operator created.'),
  password: PasswordIn(NEW_PASSWORD),
});

const SESSION_HEADERS = {
  'set-cookie':
    'The session, and a token that identifies the browser at its next sign-in. Scripts cannot read them.',
};

const NO_CONTENT = { 204: { description: 'Done.', schema: null } };

/** Errors of every public sign-in route. */
export const SIGN_IN_ERRORS: readonly ErrorCode[] = [
  'unauthenticated',
  'cross_site_request',
  'rate_limited',
  'auth_unavailable',
  'unavailable',
];

export const routes = {
  getSignInOptions: route({
    method: 'GET',
    path: '/v1/auth/options',
    operationId: 'getSignInOptions',
    tag: 'Sign-in',
    summary: 'Get the available sign-in methods',
    description: 'For the sign-in page. Needs no key.',
    scopes: 'public',
    responses: { 200: { description: 'The available methods.', schema: OptionsBody } },
    errors: ['auth_unavailable', 'rate_limited'],
  }),
  setUp: route({
    method: 'POST',
    path: '/v1/auth/setup',
    operationId: 'setUp',
    tag: 'Sign-in',
    summary: 'Create the first administrator',
    description:
      'Needs the code that the service printed at start, which is valid for one hour and one use, also after a restart. Once the first account exists, people join by invitation or through the identity provider.',
    scopes: 'public',
    body: SetUpBody,
    responses: {
      201: { description: 'The first administrator, signed in.', schema: MeBody, headers: SESSION_HEADERS },
    },
    errors: ['already_set_up', ...SIGN_IN_ERRORS],
  }),
  signIn: route({
    method: 'POST',
    path: '/v1/auth/sign-in',
    operationId: 'signIn',
    tag: 'Sign-in',
    summary: 'Sign in with a password',
    description:
      'Every failure gives the same message. After 10 wrong attempts in 15 minutes for one address and e-mail, or 50 in a day for one e-mail from all addresses, the response is 429 until that period ends. A browser in which the person has signed in before is counted separately, so nobody else can lock it out.',
    scopes: 'public',
    body: SignInBody,
    responses: { 200: { description: 'Signed in.', schema: MeBody, headers: SESSION_HEADERS } },
    errors: SIGN_IN_ERRORS,
  }),
  acceptInvitation: route({
    method: 'POST',
    path: '/v1/auth/invitations/accept',
    operationId: 'acceptInvitation',
    tag: 'Sign-in',
    summary: 'Join a workspace by invitation',
    description:
      'Creates an account for the e-mail of the invitation. If that e-mail already has an account, `password` must be that account’s, and `name` is ignored. If another member has the same name or a look-alike, the e-mail is appended to the name.',
    scopes: 'public',
    body: AcceptBody,
    responses: { 201: { description: 'Joined and signed in.', schema: MeBody, headers: SESSION_HEADERS } },
    errors: ['already_member', 'principal_taken', ...SIGN_IN_ERRORS],
  }),
  readInvitation: route({
    method: 'POST',
    path: '/v1/auth/invitations/read',
    operationId: 'readInvitation',
    tag: 'Sign-in',
    summary: 'Read an invitation before accepting it',
    description:
      'For the page that joins a workspace. Answers only for a token that could be accepted, and changes nothing. The token is in the body, so no log or history of addresses has it.',
    scopes: 'public',
    body: ReadInvitationBody,
    responses: { 200: { description: 'The invitation.', schema: InvitationSummaryBody } },
    errors: SIGN_IN_ERRORS,
  }),
  forgotPassword: route({
    method: 'POST',
    path: '/v1/auth/password/forgot',
    operationId: 'forgotPassword',
    tag: 'Sign-in',
    summary: 'Ask for a password link by mail',
    description:
      'If the e-mail belongs to a member with a password, a link to set a new one is mailed to it, at most three an hour. The answer is always the same, also without a mail server (`SMTP_URL`), and after 30 requests of a client in an hour, which mail nothing more.',
    scopes: 'public',
    body: ForgotBody,
    responses: { 202: { description: 'Accepted.', schema: null } },
    errors: SIGN_IN_ERRORS,
  }),
  resetPassword: route({
    method: 'POST',
    path: '/v1/auth/password/reset',
    operationId: 'resetPassword',
    tag: 'Sign-in',
    summary: 'Set a new password by a link',
    description:
      'With a link from `forgotPassword` or from the operator’s `user reset-link`, which is valid for one day and one use. The new password replaces all other sign-in methods except the identity provider: sessions and passkeys end.',
    scopes: 'public',
    body: ResetBody,
    responses: {
      200: {
        description: 'The password is set, and the person signed in.',
        schema: MeBody,
        headers: SESSION_HEADERS,
      },
    },
    errors: SIGN_IN_ERRORS,
  }),
  signOut: route({
    method: 'POST',
    path: '/v1/auth/sign-out',
    operationId: 'signOut',
    tag: 'Sign-in',
    summary: 'Sign out',
    description: 'The session has ended on every node.',
    scopes: 'session',
    responses: NO_CONTENT,
    errors: [],
  }),
  reauthenticate: route({
    method: 'POST',
    path: '/v1/auth/reauthenticate',
    operationId: 'reauthenticate',
    tag: 'Sign-in',
    summary: 'Confirm your identity',
    description:
      'For changes that answered `reauthentication_required`. After 10 wrong passwords in a session in 15 minutes, or 50 by a person in a day, the response is 429; failed sign-ins do not count here. If password sign-in is disabled, a password answers 400.',
    scopes: 'session',
    body: ReauthenticateBody,
    responses: NO_CONTENT,
    errors: [],
  }),
  removePassword: route({
    method: 'DELETE',
    path: '/v1/auth/password',
    operationId: 'removePassword',
    tag: 'Sign-in',
    summary: 'Remove your password',
    description:
      'From then on you sign in with a passkey; all your other sessions end. Without a passkey, the password cannot be removed. Repeating the request also answers 204. The operator’s `user reset-link` can set a password again.',
    scopes: 'session',
    weighs: true,
    responses: NO_CONTENT,
    errors: ['last_way_in'],
  }),
  changePassword: route({
    method: 'POST',
    path: '/v1/auth/password',
    operationId: 'changePassword',
    tag: 'Sign-in',
    summary: 'Change your password',
    description:
      'All your other sessions and password-reset links end; passkeys stay. A wrong password counts as a failed proof of this session. If password sign-in is disabled: 400.',
    scopes: 'session',
    body: ChangePasswordBody,
    responses: NO_CONTENT,
    errors: [],
  }),
};
