import { CommandError } from './failure.ts';

/** The address of the service that the commands talk to. Throws `CommandError` where `PURSER_BASE_URL` is none. */
export function serviceAddress({ PURSER_BASE_URL }: NodeJS.ProcessEnv): string {
  const address = PURSER_BASE_URL || 'http://127.0.0.1:8080';
  if (!URL.canParse(address)) throw new CommandError('PURSER_BASE_URL must be an http or https URL.');
  return address;
}

/** The address of the page that explains the fields of an authority, which that service serves. */
export const authorityPage = (env: NodeJS.ProcessEnv): string =>
  new URL('/docs/guides/reference-authority', serviceAddress(env)).href;
