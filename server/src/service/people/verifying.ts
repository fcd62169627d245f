import { ApiError, authUnavailable } from '@purser/rules/errors';
import { isUnavailable, sqlState } from '../../engine/storage/database.ts';

/** Returns whether the database could not be asked, or refused what was asked. */
export function isDatabaseError(error: unknown): boolean {
  return isUnavailable(error) || sqlState(error) !== undefined;
}

/**
 * Runs what tells who somebody is. Where the database cannot be asked, that could not be told: `auth_unavailable`, never a
 * way in.
 */
export async function verifying<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const is_untold = isDatabaseError(error) || (error instanceof ApiError && error.code === 'unavailable');
    throw is_untold ? authUnavailable(error) : error;
  }
}
