import { createHmac, timingSafeEqual } from 'node:crypto';
import type { RailKind } from '@purser/contract/values/history';

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** How far the time of a signature may be from now, to either side. */
const TOLERANCE_MS = 300_000;
/** Vendors sign with each secret in use; a request with more signatures is none of theirs. */
const MAX_SIGNATURES = 10;

/** The signatures of a request, and the time that they cover; `sign` makes the one that a secret would give. */
interface Signed {
  time_s: number;
  signatures: readonly string[];
  sign: (secret: string) => string;
}

const headerOf = (headers: Headers, name: string) => {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
};
const hmac = (key: string | Buffer, head: string, body: Buffer) =>
  createHmac('sha256', key).update(head).update(body);

/** `t=…,v1=…`, with the whole secret as the key. */
function stripeSigned(headers: Headers, body: Buffer): Signed {
  const parts = headerOf(headers, 'stripe-signature').split(',');
  const valuesOf = (name: string) =>
    parts.flatMap((part) => (part.trim().startsWith(`${name}=`) ? [part.trim().slice(name.length + 1)] : []));
  const [time = ''] = valuesOf('t');
  return {
    time_s: /^\d{1,12}$/.test(time) ? Number(time) : Number.NaN,
    signatures: valuesOf('v1'),
    sign: (secret) => hmac(secret, `${time}.`, body).digest('hex'),
  };
}

/** Standard Webhooks: the id and the time are signed too, and the key is what the secret encodes. */
function standardSigned(headers: Headers, body: Buffer): Signed {
  const id = headerOf(headers, 'webhook-id');
  const time = headerOf(headers, 'webhook-timestamp');
  const is_whole = id !== '' && /^\d{1,12}$/.test(time);
  return {
    time_s: is_whole ? Number(time) : Number.NaN,
    signatures: headerOf(headers, 'webhook-signature')
      .split(' ')
      .flatMap((each) => (each.startsWith('v1,') ? [each.slice(3)] : [])),
    sign(secret) {
      const key = Buffer.from(secret.slice(secret.indexOf('_') + 1), 'base64');
      return hmac(key, `${id}.${time}.`, body).digest('base64');
    },
  };
}

const READERS: Readonly<Record<RailKind, (headers: Headers, body: Buffer) => Signed>> = {
  stripe_issuing: stripeSigned,
  lithic: standardSigned,
};

function isSame(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/**
 * Checks that the vendor signed a raw body with one of the secrets, at most five minutes from `now_ms`. Compares in constant
 * time. Returns what is wrong, or null.
 */
export function signatureProblem(
  kind: RailKind,
  {
    headers,
    body,
    secrets,
    now_ms,
  }: { headers: Headers; body: Buffer; secrets: readonly string[]; now_ms: number },
): string | null {
  const { time_s, signatures, sign } = READERS[kind](headers, body);
  if (Number.isNaN(time_s) || signatures.length === 0) return 'The request is not signed.';
  const wanted = secrets.map(sign);
  const given = signatures.slice(0, MAX_SIGNATURES);
  const is_signed = wanted
    .map((each) => given.map((other) => isSame(other, each)).includes(true))
    .includes(true);
  if (!is_signed) return 'The signature is none of the rail’s signing secrets.';
  if (!(Math.abs(now_ms - time_s * 1000) <= TOLERANCE_MS))
    return 'The signature is older than five minutes, or from the future.';
  return null;
}
