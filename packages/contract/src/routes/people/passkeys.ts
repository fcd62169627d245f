import { Type } from 'typebox';
import { TEXT_LENGTHS } from '../../limits.ts';
import { AuthenticatorAnswer, MeBody } from '../../people.ts';
import { route } from '../../route.ts';
import { Fields, Line, Nullable, Timestamp } from '../../schema.ts';
import { SIGN_IN_ERRORS } from './auth.ts';

const RegistrationBody = Type.Object(
  {
    id: Type.String({ maxLength: 2_048 }),
    rawId: Type.String({ maxLength: 2_048 }),
    type: Type.String(),
    response: Type.Object({}, { additionalProperties: true }),
    name: Type.Optional(Line({ max: TEXT_LENGTHS.name }, { description: 'Your name for it.' })),
  },
  {
    additionalProperties: true,
    description: 'The result of `navigator.credentials.create`, in its JSON form.',
  },
);

const PasskeyItem = Fields(
  {
    id: Type.String(),
    name: Type.String(),
    created_at: Timestamp(),
    last_used_at: Nullable(Timestamp()),
  },
  { $id: 'Passkey' },
);

const CreationOptions = Type.Object(
  {},
  { additionalProperties: true, description: 'For `navigator.credentials.create`, in its JSON form.' },
);

const RequestOptions = Type.Object(
  {},
  { additionalProperties: true, description: 'For `navigator.credentials.get`, in its JSON form.' },
);

const IdParams = Fields({ id: Type.String() });

export const routes = {
  beginPasskeySignIn: route({
    method: 'POST',
    path: '/v1/auth/passkey/options',
    operationId: 'beginPasskeySignIn',
    tag: 'Sign-in',
    summary: 'Begin to sign in with a passkey',
    description:
      'A challenge for one response within five minutes. Answers 404 if the service is at an IP address.',
    scopes: 'public',
    responses: { 200: { description: 'The options for the browser.', schema: RequestOptions } },
    errors: ['not_found', ...SIGN_IN_ERRORS],
  }),
  signInWithPasskey: route({
    method: 'POST',
    path: '/v1/auth/passkey/verify',
    operationId: 'signInWithPasskey',
    tag: 'Sign-in',
    summary: 'Sign in with a passkey',
    description: 'The passkey identifies its owner; every failure gives the same message.',
    scopes: 'public',
    body: AuthenticatorAnswer,
    responses: {
      200: { description: 'Signed in.', schema: MeBody, headers: { 'set-cookie': 'The session.' } },
    },
    errors: ['not_found', ...SIGN_IN_ERRORS],
  }),
  beginPasskeyRegistration: route({
    method: 'POST',
    path: '/v1/auth/passkey/register/options',
    operationId: 'beginPasskeyRegistration',
    tag: 'Sign-in',
    summary: 'Begin to add a passkey',
    description: 'Needs a recent sign-in, since a passkey is a permanent sign-in method.',
    scopes: 'session',
    weighs: true,
    responses: { 200: { description: 'The options for the browser.', schema: CreationOptions } },
    errors: ['not_found'],
  }),
  registerPasskey: route({
    method: 'POST',
    path: '/v1/auth/passkey/register/verify',
    operationId: 'registerPasskey',
    tag: 'Sign-in',
    summary: 'Add a passkey',
    description: 'You can sign in with it from then on.',
    scopes: 'session',
    weighs: true,
    body: RegistrationBody,
    responses: { 204: { description: 'Added.', schema: null } },
    errors: ['not_found'],
  }),
  listMyPasskeys: route({
    method: 'GET',
    path: '/v1/me/passkeys',
    operationId: 'listMyPasskeys',
    tag: 'Sign-in',
    summary: 'List your passkeys',
    description: 'Oldest first; all of them.',
    scopes: 'session',
    responses: {
      200: {
        description: 'The passkeys.',
        schema: Fields({ data: Type.Array(PasskeyItem), next_cursor: Type.Null() }, { $id: 'PasskeyPage' }),
      },
    },
    errors: [],
  }),
  deleteMyPasskey: route({
    method: 'DELETE',
    path: '/v1/me/passkeys/:id',
    operationId: 'deleteMyPasskey',
    tag: 'Sign-in',
    summary: 'Remove one of your passkeys',
    description:
      'It no longer works for sign-in. Repeating the request answers 404. Without a password or an identity provider, the last passkey cannot be removed.',
    scopes: 'session',
    weighs: true,
    params: IdParams,
    responses: { 204: { description: 'Removed.', schema: null } },
    errors: ['not_found', 'last_way_in'],
  }),
};
