import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/browser';

/** Whether this browser can hold passkeys at all. */
export const canPasskeys = () => typeof PublicKeyCredential === 'function';

/** The person closed the browser's question, or it ran out: nothing went wrong. */
export const wasCancelled = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'NotAllowedError' || error.name === 'AbortError');

/** The library is loaded where it is first needed: most people sign in without it. */
const library = () => import('@simplewebauthn/browser');

/** Asks for one of the person's passkeys, for the options that the service gave. Rejects as `wasCancelled` tells. */
export async function askForPasskey(options: object): Promise<AuthenticationResponseJSON> {
  const { startAuthentication } = await library();
  return startAuthentication({ optionsJSON: options as never });
}

/** Has a device make a passkey, for the options that the service gave. Rejects as `wasCancelled` tells. */
export async function makePasskey(options: object): Promise<RegistrationResponseJSON> {
  const { startRegistration } = await library();
  return startRegistration({ optionsJSON: options as never });
}
