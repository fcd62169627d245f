import type { AuthenticatorAnswer, RegisterPasskeyRequest } from '@purser/sdk';

/** Whether this browser can hold passkeys at all. */
export const canPasskeys = () => typeof PublicKeyCredential === 'function';

/** The person closed the browser's question, or it ran out: nothing went wrong. */
export const wasCancelled = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'NotAllowedError' || error.name === 'AbortError');

/** The library is loaded where it is first needed: most people sign in without it. */
const library = () => import('@simplewebauthn/browser');

/** Asks for one of the person's passkeys, for the options that the service gave. Rejects as `wasCancelled` tells. */
export async function askForPasskey(options: object): Promise<AuthenticatorAnswer> {
  const { startAuthentication } = await library();
  return (await startAuthentication({ optionsJSON: options as never })) as never;
}

/** Has a device make a passkey, for the options that the service gave. Rejects as `wasCancelled` tells. */
export async function makePasskey(options: object): Promise<RegisterPasskeyRequest> {
  const { startRegistration } = await library();
  return (await startRegistration({ optionsJSON: options as never })) as never;
}
