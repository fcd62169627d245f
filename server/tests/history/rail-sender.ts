import { createHmac } from 'node:crypto';
import type { RailKind } from '@purser/contract/values/history';
import type { RunningService } from '../support/running-service.ts';
import { makeClient } from '../support/service-test.ts';

/** Secrets of the form that each vendor gives. */
export const RAIL_SECRETS: Readonly<Record<RailKind, string>> = {
  stripe_issuing: 'whsec_of_the_tests',
  lithic: `whsec_${Buffer.from('a secret of the tests, long').toString('base64')}`,
};

/** The headers by which a vendor signs a body. `at_ms`: when. */
export function signedHeaders(
  kind: RailKind,
  body: string,
  { secret = RAIL_SECRETS[kind], at_ms = Date.now(), id = 'msg_1' } = {},
): Record<string, string> {
  const time = Math.floor(at_ms / 1000);
  if (kind === 'stripe_issuing') {
    const v1 = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
    return { 'stripe-signature': `t=${time},v0=00,v1=${v1}` };
  }
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const v1 = createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': String(time), 'webhook-signature': `v1,${v1}` };
}

/** Adds rails to a service, which may be started later, and sends events as their vendors do. */
export function makeRailSender(service: Pick<RunningService, 'call'>) {
  const { post } = makeClient(service);
  const send = (
    { id, kind }: { id: string; kind: RailKind },
    event: unknown,
    signing: Parameters<typeof signedHeaders>[2] = {},
  ) => {
    const raw = typeof event === 'string' ? event : JSON.stringify(event);
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      ...signedHeaders(kind, raw, signing),
    };
    return service.call('POST', `/v1/rails/${id}/events`, { key: null, raw, headers });
  };
  return {
    send,
    addRail: (kind: RailKind, more: object = {}) =>
      post('/v1/rails', { kind, name: kind, signing_secrets: [RAIL_SECRETS[kind]], ...more }),
  };
}
