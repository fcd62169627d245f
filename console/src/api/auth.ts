import type {
  AcceptInvitationRequest,
  ChangePasswordRequest,
  ForgotPasswordRequest,
  InvitationSummary,
  Me,
  ReauthenticateRequest,
  RegisterPasskeyRequest,
  ResetPasswordRequest,
  SetUpRequest,
  SignInOptions,
  SignInRequest,
} from '@purser/sdk';
import { purser, QUIET } from './client.ts';

/** Sends without retries, since the person must react to a refusal. */
const send = async <T>(method: 'POST' | 'DELETE', path: `/${string}`, body?: unknown): Promise<T> =>
  purser.request<T>(method, path, body === undefined ? {} : { body }, { maxRetries: 0 });
const post = <T>(path: `/${string}`, body?: unknown) => send<T>('POST', path, body);

/** Routes for signing in and out. Only a page needs them, so the client library has no methods for them. */
export const auth = {
  options: async () => purser.request<SignInOptions>('GET', '/v1/auth/options', {}, QUIET),
  setUp: (body: SetUpRequest) => post<Me>('/v1/auth/setup', body),
  signIn: (body: SignInRequest) => post<Me>('/v1/auth/sign-in', body),
  signOut: () => post<void>('/v1/auth/sign-out'),
  changePassword: (body: ChangePasswordRequest) => post<void>('/v1/auth/password', body),
  removePassword: () => send<void>('DELETE', '/v1/auth/password'),
  forgot: (body: ForgotPasswordRequest) => post<void>('/v1/auth/password/forgot', body),
  reset: (body: ResetPasswordRequest) => post<Me>('/v1/auth/password/reset', body),
  readInvitation: (token: string) => post<InvitationSummary>('/v1/auth/invitations/read', { token }),
  accept: (body: AcceptInvitationRequest) => post<Me>('/v1/auth/invitations/accept', body),
  reauthenticate: (body: ReauthenticateRequest) => post<void>('/v1/auth/reauthenticate', body),

  passkeyOptions: () => post<object>('/v1/auth/passkey/options'),
  signInWithPasskey: (body: object) => post<Me>('/v1/auth/passkey/verify', body),

  passkeyCreationOptions: () => post<object>('/v1/auth/passkey/register/options'),
  addPasskey: (body: RegisterPasskeyRequest) => post<void>('/v1/auth/passkey/register/verify', body),
};
