import type { AuthenticatorAnswer, RegisterPasskeyRequest } from '@purser/sdk';

/** True if this browser supports passkeys. */
export const canPasskeys = () => typeof PublicKeyCredential === 'function';

/** True if the person closed the browser's dialog or it timed out. */
export const wasCancelled = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'NotAllowedError' || error.name === 'AbortError');

/** Loaded on first use: most people sign in without it. */
const library = () => import('@simplewebauthn/browser');

/** Requests a passkey for the service's options. Rejects if cancelled, see `wasCancelled`. */
export async function requestPasskey(options: object): Promise<AuthenticatorAnswer> {
  const { startAuthentication } = await library();
  return (await startAuthentication({ optionsJSON: options as never })) as never;
}

/** Creates a passkey for the service's options. Rejects if cancelled, see `wasCancelled`. */
export async function createPasskey(options: object): Promise<RegisterPasskeyRequest> {
  const { startRegistration } = await library();
  return (await startRegistration({ optionsJSON: options as never })) as never;
}
