import { ApiError } from '../errors.ts';
import type { Call, Route } from './route.ts';

/** Returns whether any request to a route may need a fresh proof of identity. */
export function mayWeigh({ method, scopes, weighs }: Pick<Route, 'method' | 'scopes' | 'weighs'>): boolean {
  if (weighs !== undefined) return weighs !== false;
  return method !== 'GET' && Array.isArray(scopes) && scopes.includes('admin');
}

/**
 * Throws `reauthentication_required` if the request weighs and comes from a person who has not proved lately who they are.
 * Keys pass. Where a route says nothing for every person, only administrators are asked.
 */
export async function checkProof(route: Route, call: Call<never, never, never>): Promise<void> {
  const { session, scopes } = call.caller ?? {};
  if (session == null || session.is_proof_fresh || !mayWeigh(route)) return;
  if (route.weighs !== true && scopes?.includes('admin') !== true) return;
  if (typeof route.weighs === 'function' && !(await route.weighs(call))) return;
  throw new ApiError(
    'reauthentication_required',
    'Your sign-in is too long ago for this: prove who you are at /v1/auth/reauthenticate, then send it again.',
  );
}
