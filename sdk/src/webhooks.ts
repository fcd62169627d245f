import { WebhookSignatureError } from './errors.ts';
import type { WebhookEvent } from './generated.ts';
import { isObject } from './options.ts';

export interface UnwrapOptions {
  /** How far the delivery's time may be from ours, to either side, in seconds. Default 300. */
  tolerance?: number | undefined;
  /** The present time in Unix seconds, for tests. */
  now?: number | undefined;
}

export interface SignOptions {
  /** Default: the body's `id`. */
  id?: string | undefined;
  /** Default: the body's `type`. */
  type?: string | undefined;
  /** Unix seconds. Default: now. */
  timestamp?: number | undefined;
}

type HeadersLike = Headers | Record<string, string | string[] | undefined>;

const DEFAULT_TOLERANCE_S = 300;
const SIGNED = /^t=(\d{1,15}),v1=([0-9a-f]{64})$/;
const encoder = new TextEncoder();

type Bytes = Uint8Array<ArrayBuffer>;

function bytesOf(body: string | Uint8Array): Uint8Array {
  if (typeof body === 'string') return encoder.encode(body);
  if (body instanceof Uint8Array) return body;
  throw new TypeError(
    'body must be the raw body, as text or bytes: parsed JSON does not match the signature',
  );
}

/** The text of a header, whatever its case; undefined when it is missing or came twice. */
function headerOf(headers: HeadersLike, name: string): string | undefined {
  if (typeof (headers as Headers).get === 'function') return (headers as Headers).get(name) ?? undefined;
  const found = Object.entries(headers).filter(([each]) => each.toLowerCase() === name);
  const value = found.length === 1 ? found[0]?.[1] : undefined;
  return Array.isArray(value) ? (value.length === 1 ? value[0] : undefined) : (value as string | undefined);
}

function hmacKey(bytes: Bytes) {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  return crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign', 'verify']);
}

/** The secret's own bytes, which Standard Webhooks signs with; null when it is not in that form. */
function secretBytes(secret: string): Bytes | null {
  try {
    const bytes = fromBase64(secret.replace(/^whsec_/, ''));
    return secret.startsWith('whsec_') && bytes.length > 0 ? bytes : null;
  } catch {
    return null;
  }
}

const fromBase64 = (text: string) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
const fromHex = (text: string) =>
  Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

function joined(prefix: string, body: Uint8Array): Bytes {
  const head = encoder.encode(prefix);
  const whole = new Uint8Array(head.length + body.length);
  whole.set(head);
  whole.set(body, head.length);
  return whole;
}

/** A time, and whether a secret signed it together with the body. */
interface Claim {
  timestamp: number;
  isSignedWith: (secret: string) => Promise<boolean>;
}

/** The claims of `x-svc-signature` (or its alias) and of `webhook-signature`. */
function claimsOf(headers: HeadersLike, body: Uint8Array): Claim[] {
  const claims: Claim[] = [];
  for (const name of ['x-svc-signature', 'x-purser-signature']) {
    const [, t, v1] = SIGNED.exec(headerOf(headers, name) ?? '') ?? [];
    if (t === undefined || v1 === undefined) continue;
    claims.push({
      timestamp: Number(t),
      isSignedWith: async (secret) =>
        crypto.subtle.verify(
          'HMAC',
          await hmacKey(encoder.encode(secret)),
          fromHex(v1),
          joined(`${t}.`, body),
        ),
    });
  }
  const id = headerOf(headers, 'webhook-id');
  const t = headerOf(headers, 'webhook-timestamp') ?? '';
  const signatures = (headerOf(headers, 'webhook-signature') ?? '').split(' ').slice(0, 10);
  for (const signature of signatures) {
    const [, base64] = /^v1,([A-Za-z0-9+/]{43}=)$/.exec(signature) ?? [];
    if (id === undefined || !/^\d{1,15}$/.test(t) || base64 === undefined) continue;
    claims.push({
      timestamp: Number(t),
      isSignedWith: async (secret) => {
        const bytes = secretBytes(secret);
        if (bytes === null) return false;
        return crypto.subtle.verify(
          'HMAC',
          await hmacKey(bytes),
          fromBase64(base64),
          joined(`${id}.${t}.`, body),
        );
      },
    });
  }
  return claims;
}

/**
 * The event of a delivery, once its signature and time were verified. `body` is the raw body, exactly as received;
 * with several secrets any of them may have signed. Compares in constant time. Rejects with a `WebhookSignatureError`
 * when the delivery proves nothing, with a `TypeError` when an argument is wrong. Deduplicate on the event's `id`.
 */
export async function unwrap(
  body: string | Uint8Array,
  headers: HeadersLike,
  secret: string | string[],
  options: UnwrapOptions = {},
): Promise<WebhookEvent> {
  const bytes = bytesOf(body);
  if (typeof headers !== 'object' || headers === null)
    throw new TypeError('headers must be the headers of the delivery');
  const secrets = Array.isArray(secret) ? secret : [secret];
  if (secrets.length === 0 || secrets.some((each) => typeof each !== 'string' || each === '')) {
    throw new TypeError('secret must be the whsec_… of the endpoint, or several of them');
  }
  const { tolerance = DEFAULT_TOLERANCE_S, now = Date.now() / 1000 } = options;
  if (!Number.isFinite(tolerance) || tolerance < 0 || !Number.isFinite(now)) {
    throw new TypeError('tolerance and now must be numbers of seconds');
  }
  const claims = claimsOf(headers, bytes);
  if (claims.length === 0)
    throw new WebhookSignatureError('The delivery is unsigned, or its signature has an unknown form');
  const timely = claims.filter(({ timestamp }) => Math.abs(now - timestamp) <= tolerance);
  if (timely.length === 0) {
    const off = Math.round(now - (claims[0] as Claim).timestamp);
    throw new WebhookSignatureError(
      `The delivery is ${Math.abs(off)} seconds ${off > 0 ? 'old' : 'ahead of our clock'}`,
    );
  }
  const proofs = timely.flatMap(({ isSignedWith }) => secrets.map(isSignedWith));
  if (!(await Promise.all(proofs)).includes(true)) {
    throw new WebhookSignatureError('The signature does not match this body and these secrets');
  }
  try {
    const event = JSON.parse(new TextDecoder().decode(bytes)) as WebhookEvent;
    if (typeof event.id === 'string' && typeof event.type === 'string' && isObject(event.data)) return event;
  } catch {
    // Told below.
  }
  throw new WebhookSignatureError('The delivery is signed, but is not an event');
}

const hex = (bytes: ArrayBuffer) =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** The headers of a delivery of this body, as the service would send them. For tests of receivers. */
export async function sign(
  body: string,
  secret: string,
  options: SignOptions = {},
): Promise<Record<string, string>> {
  const bytes = bytesOf(body);
  if (typeof secret !== 'string' || secret === '')
    throw new TypeError('secret must be a string such as whsec_…');
  let event: { id?: string; type?: string } = {};
  try {
    event = JSON.parse(body) ?? {};
  } catch {
    // Then options say it, or nobody does.
  }
  const { id = event.id ?? 'evt_test', type = event.type ?? 'webhook.test' } = options;
  const t = options.timestamp ?? Math.floor(Date.now() / 1000);
  const v1 = hex(
    await crypto.subtle.sign('HMAC', await hmacKey(encoder.encode(secret)), joined(`${t}.`, bytes)),
  );
  const signature = `t=${t},v1=${v1}`;
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  for (const prefix of ['x-svc', 'x-purser']) {
    Object.assign(headers, {
      [`${prefix}-id`]: id,
      [`${prefix}-type`]: type,
      [`${prefix}-signature`]: signature,
    });
  }
  const own = secretBytes(secret);
  if (own === null) return headers;
  const standard = await crypto.subtle.sign('HMAC', await hmacKey(own), joined(`${id}.${t}.`, bytes));
  const base64 = btoa(String.fromCharCode(...new Uint8Array(standard)));
  return { ...headers, 'webhook-id': id, 'webhook-timestamp': `${t}`, 'webhook-signature': `v1,${base64}` };
}

/** Verifying and signing deliveries. */
export const webhooks = { unwrap, sign };
