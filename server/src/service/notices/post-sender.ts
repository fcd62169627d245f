import type { EndpointConnections, PostResult } from '../webhook-delivery/client.ts';
import type { Outcome, OutgoingNotice, Sender } from '../webhook-delivery/sender.ts';

/** A notice in the form of one service. */
export interface EncodedNotice {
  headers: Record<string, string>;
  body: string;
}

const GONE = 410;
const TOO_MANY = 429;

function outcomeOf({ received, http_status, error, retry_after_ms }: PostResult): Outcome {
  if (received) return { kind: 'delivered' };
  if (http_status === GONE) return { kind: 'dead', reason: 'gone', gone: true };
  const is_limited = http_status === TOO_MANY;
  const code = is_limited ? 'rate_limited' : (error ?? 'bad_status');
  return { kind: 'retry', error: code, after_ms: retry_after_ms };
}

/**
 * Makes a sender that posts each notice in the form that `encode` gives it. A 410 means that the receiver is gone; of any
 * other answer but 2xx, `Retry-After` is kept.
 */
export function postSender(
  connections: EndpointConnections,
  encode: (notice: OutgoingNotice) => EncodedNotice,
): Sender {
  return {
    async send(notice) {
      const { headers, body } = encode(notice);
      return outcomeOf(await connections.post({ ...POST_HEADERS, ...headers }, body));
    },
    retire: () => connections.retire(),
    close: () => connections.close(),
  };
}

const POST_HEADERS = {
  'content-type': 'application/json',
  'user-agent': 'purser-notices/1',
  accept: '*/*',
  'accept-encoding': 'identity',
};
