import { ERRORS, type ErrorCode } from '@purser/contract/errors';
import type { RouteData } from '@purser/contract/route';
import { mayNeedProof } from '../http/access.ts';
import type { JsonSchema, Response } from './document-types.ts';

const RETRY_AFTER = { description: 'Seconds to wait.', schema: { type: 'integer' } };
const OUTCOME = {
  description: '`unknown`: the request may have been carried out. Without it nothing was.',
  schema: { type: 'string', const: 'unknown' },
};

/** Errors of every route with a key, in addition to its own. */
export const KEYED_ERRORS: readonly ErrorCode[] = [
  'invalid_request',
  'unauthenticated',
  'insufficient_scope',
  'cross_site_request',
  'rate_limited',
  'internal_error',
  'auth_unavailable',
  'unavailable',
];
/** The same of routes without a key. */
const PUBLIC_ERRORS: readonly ErrorCode[] = ['invalid_request', 'internal_error'];

/** Every code that the route may answer with. */
export function errorsOf(route: RouteData): Set<ErrorCode> {
  const codes = new Set([...(route.scopes === 'public' ? PUBLIC_ERRORS : KEYED_ERRORS), ...route.errors]);
  if (mayNeedProof(route)) codes.add('reauthentication_required');
  return codes;
}

/** Every code that the route may answer with, by status, in the order of the table of errors. */
function errorsByStatus(route: RouteData): Map<string, ErrorCode[]> {
  const codes = errorsOf(route);
  // Only what changes something has to come from the console itself.
  if (route.method === 'GET') codes.delete('cross_site_request');
  const by_status = new Map<string, ErrorCode[]>();
  for (const code of Object.keys(ERRORS) as ErrorCode[]) {
    if (!codes.has(code)) continue;
    const status = String(ERRORS[code].status);
    by_status.set(status, [...(by_status.get(status) ?? []), code]);
  }
  return by_status;
}

/**
 * The error responses of a route, by status. A name says everything that its response depends on, so equal names are
 * equal responses.
 */
export function errorResponses(
  route: RouteData,
  headers: Response['headers'],
  body: JsonSchema,
): { status: string; name: string; response: Response }[] {
  return [...errorsByStatus(route)].map(([status, codes]) => {
    const may_have_happened = status === '503' && route.method !== 'GET';
    return {
      status,
      name: [
        ...codes,
        ...(route.scopes === 'public' ? ['keyless'] : []),
        ...(may_have_happened ? ['write'] : []),
      ].join('.'),
      response: {
        description: codes.map((code) => `\`${code}\`: ${ERRORS[code].when}`).join('\n\n'),
        headers: {
          ...headers,
          ...(status === '429' || status === '503' ? { 'Retry-After': RETRY_AFTER } : {}),
          ...(may_have_happened ? { 'purser-outcome': OUTCOME } : {}),
        },
        content: { 'application/json': { schema: body } },
      },
    };
  });
}
