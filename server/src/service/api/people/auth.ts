import { route } from '@purser/contract/route';
import { ApiError, type ErrorCode, invalidField } from '@purser/rules/errors';
import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import Type from 'typebox';
import { type Route, serve } from '../../http/route.ts';
import { Fields, Nullable } from '../../http/schemas.ts';
import { fromOf, selfOf } from '../../people/callers.ts';
import type { Passkeys } from '../../people/passkeys.ts';
import type { SignedIn, SignInFlows } from '../../people/sign-in.ts';
import type { Site } from '../../people/site.ts';
import { verifying } from '../../people/verifying.ts';
import {
  AuthenticatorAnswer,
  EmailIn,
  MeBody,
  NEW_PASSWORD,
  PasswordIn,
  PersonName,
  TokenIn,
} from '../schemas/people.ts';

const OptionsBody = Fields(
  {
    setup: Type.Boolean({ description: 'Nobody is there yet: the first administrator is still to be made.' }),
    password: Type.Boolean(),
    passkey: Type.Boolean(),
    oidc: Nullable(Fields({ name: Type.String({ examples: ['Okta'] }) })),
  },
  { $id: 'SignInOptions' },
);

const SetUpBody = Fields({
  code: TokenIn('What the start of the service printed.'),
  email: EmailIn(),
  name: PersonName(),
  password: PasswordIn(NEW_PASSWORD),
});
const SignInBody = Fields({
  email: Type.String({ maxLength: 512, examples: ['ada@example.com'] }),
  password: PasswordIn('The password.'),
});
const ChangePasswordBody = Fields({
  current_password: PasswordIn('The present one.'),
  new_password: PasswordIn(NEW_PASSWORD),
});
const ReauthenticateBody = Fields({
  password: Type.Optional(PasswordIn('The password; or `passkey`.')),
  passkey: Type.Optional(AuthenticatorAnswer),
});
const AcceptBody = Fields({
  token: TokenIn('From the link of the invitation.'),
  name: PersonName(),
  password: PasswordIn(`${NEW_PASSWORD} Where the e-mail has an account already, the one of that account.`),
});
const ResetBody = Fields({
  token: TokenIn('From the link that the operator made.'),
  password: PasswordIn(NEW_PASSWORD),
});

const SESSION_HEADERS = {
  'set-cookie':
    'The session, and beside it what the browser is known by at its next sign-in. Scripts cannot read them.',
};
const NO_CONTENT = { 204: { description: 'Done.', schema: null } };

/** What every public route of signing in may answer. */
export const DOOR_ERRORS: readonly ErrorCode[] = [
  'unauthenticated',
  'cross_site_request',
  'rate_limited',
  'auth_unavailable',
  'unavailable',
];

function letIn<Status extends number>(status: Status, { me, cookies }: SignedIn) {
  return { status, body: me, headers: { 'set-cookie': cookies } };
}

const routes = {
  getSignInOptions: route({
    method: 'GET',
    path: '/v1/auth/options',
    operationId: 'getSignInOptions',
    tag: 'Sign-in',
    summary: 'Get the ways to sign in',
    description: 'For the page that asks for them. Needs no key.',
    scopes: 'public',
    responses: { 200: { description: 'The ways that there are.', schema: OptionsBody } },
    errors: ['auth_unavailable', 'rate_limited'],
  }),
  setUp: route({
    method: 'POST',
    path: '/v1/auth/setup',
    operationId: 'setUp',
    tag: 'Sign-in',
    summary: 'Make the first administrator',
    description:
      'With a code that a start of the service printed, good for an hour and one use, also after another start. Once there is somebody, people come by invitation or through the identity provider.',
    scopes: 'public',
    body: SetUpBody,
    responses: {
      201: { description: 'The first administrator, signed in.', schema: MeBody, headers: SESSION_HEADERS },
    },
    errors: ['already_set_up', ...DOOR_ERRORS],
  }),
  signIn: route({
    method: 'POST',
    path: '/v1/auth/sign-in',
    operationId: 'signIn',
    tag: 'Sign-in',
    summary: 'Sign in with a password',
    description:
      'Whatever is wrong is answered in the same words. After 10 wrong attempts in 15 minutes for an address and an e-mail, or 50 in a day for an e-mail from all addresses, the answer is 429 until they are over. A browser in which the person signed in before is counted apart, so nobody else locks it out.',
    scopes: 'public',
    body: SignInBody,
    responses: { 200: { description: 'Signed in.', schema: MeBody, headers: SESSION_HEADERS } },
    errors: DOOR_ERRORS,
  }),
  acceptInvitation: route({
    method: 'POST',
    path: '/v1/auth/invitations/accept',
    operationId: 'acceptInvitation',
    tag: 'Sign-in',
    summary: 'Join a workspace by invitation',
    description:
      'Makes an account for the e-mail of the invitation. Where it has one already, `password` must be that account’s, and `name` is ignored. Where another member has the name, or one that looks like it, the e-mail is added to it.',
    scopes: 'public',
    body: AcceptBody,
    responses: { 201: { description: 'Joined and signed in.', schema: MeBody, headers: SESSION_HEADERS } },
    errors: ['already_member', 'principal_taken', ...DOOR_ERRORS],
  }),
  resetPassword: route({
    method: 'POST',
    path: '/v1/auth/password/reset',
    operationId: 'resetPassword',
    tag: 'Sign-in',
    summary: 'Set a new password by a link',
    description:
      'With the link that `purser user reset-link` prints, good for a day and one use. It is the person’s only way in then, beside the identity provider: sessions and passkeys end.',
    scopes: 'public',
    body: ResetBody,
    responses: {
      200: {
        description: 'The password is set, and the person signed in.',
        schema: MeBody,
        headers: SESSION_HEADERS,
      },
    },
    errors: DOOR_ERRORS,
  }),
  signOut: route({
    method: 'POST',
    path: '/v1/auth/sign-out',
    operationId: 'signOut',
    tag: 'Sign-in',
    summary: 'Sign out',
    description: 'The session is over on every node.',
    scopes: 'session',
    responses: NO_CONTENT,
    errors: [],
  }),
  reauthenticate: route({
    method: 'POST',
    path: '/v1/auth/reauthenticate',
    operationId: 'reauthenticate',
    tag: 'Sign-in',
    summary: 'Prove anew who you are',
    description:
      'For changes that answered `reauthentication_required`. After 10 wrong passwords of a session in 15 minutes, or 50 of a person in a day, the answer is 429; wrong ones at the sign-in do not count here. Where passwords are switched off, none is taken: 400.',
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
      'You come in with a passkey from now on; all other sessions of yours end. Without a passkey it stays. Again 204. The operator’s `user reset-link` sets one again.',
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
      'All other sessions of yours end, and links that set a password; passkeys stay. A wrong password counts as a wrong proof of this session. Where passwords are switched off: 400.',
    scopes: 'session',
    body: ChangePasswordBody,
    responses: NO_CONTENT,
    errors: [],
  }),
};

/** The door: who comes in, and how they prove who they are. */
export function makeAuthRoutes(options: {
  flows: SignInFlows;
  passkeys: Passkeys;
  site: Site;
  /** What the settings offer. */
  offers: { password: boolean; passkey: boolean; oidc: { name: string } | null };
}): Route[] {
  const { flows, passkeys, site, offers } = options;
  const fromHere = (call: Parameters<typeof fromOf>[0]) => {
    site.checkDoor(call.headers);
    return fromOf(call);
  };
  return [
    serve(routes.getSignInOptions)(async () => ({
      status: 200,
      body: { setup: !(await flows.isSetUp()), ...offers },
    })),
    serve(routes.setUp)(async (call) => letIn(201, await flows.setUp(call.body, fromHere(call)))),
    serve(routes.signIn)(async (call) => letIn(200, await flows.signIn(call.body, fromHere(call)))),
    serve(routes.acceptInvitation)(async (call) =>
      letIn(201, await flows.acceptInvitation(call.body, fromHere(call))),
    ),
    serve(routes.resetPassword)(async (call) => {
      if (!offers.password) throw new ApiError('unauthenticated', 'Nobody signs in with a password here.');
      return letIn(200, await flows.resetPassword(call.body, fromHere(call)));
    }),
    serve(routes.signOut)(async (call) => {
      await flows.signOut(selfOf(call));
      return { status: 204, headers: { 'set-cookie': site.clearSession() } };
    }),
    serve(routes.reauthenticate)(async (call) => {
      const { password, passkey } = call.body;
      if ((password === undefined) === (passkey === undefined)) {
        throw invalidField('password', 'is required, unless passkey is given instead');
      }
      if (password !== undefined) await flows.reauthenticate(selfOf(call), password, fromOf(call));
      else
        await verifying(() =>
          passkeys.reauthenticate(selfOf(call), passkey as AuthenticationResponseJSON, fromOf(call)),
        );
      return { status: 204 };
    }),
    serve(routes.removePassword)(async (call) => {
      await flows.removePassword(selfOf(call), fromOf(call));
      return { status: 204 };
    }),
    serve(routes.changePassword)(async (call) => {
      await flows.changePassword(selfOf(call), call.body, fromOf(call));
      return { status: 204 };
    }),
  ];
}
