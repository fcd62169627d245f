import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const digestOf = (text: string) => createHash('sha256').update(text).digest('base64url');
const seconds = (now_ms: number) => Math.floor(now_ms / 1000);

/** A P-256 key pair; `jwk` is the public one, with a name. */
export interface MandateKey {
  jwk: { kty: string; crv: string; x: string; y: string; kid: string };
  privateKey: KeyObject;
}

export function mandateKey(kid = `key-${randomBytes(6).toString('hex')}`): MandateKey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { kty, crv, x, y } = publicKey.export({ format: 'jwk' }) as Record<string, string>;
  return { jwk: { kty, crv, x, y, kid } as MandateKey['jwk'], privateKey };
}

/** The key without its name, as `cnf` has it. */
export const bare = ({ jwk: { kid: _name, ...jwk } }: MandateKey) => jwk;

/** A JWT with an ES256 signature. */
export function jwtOf(key: MandateKey, header: object, claims: object): string {
  const text = `${encoded({ alg: 'ES256', ...header })}.${encoded(claims)}`;
  const signature = sign('sha256', Buffer.from(text), { key: key.privateKey, dsaEncoding: 'ieee-p1363' });
  return `${text}.${signature.toString('base64url')}`;
}

/** A piece that can be disclosed, and the element that stands for it. */
export interface Piece {
  text: string;
  element: { '...': string };
}

/** Makes a piece of an array's element, or with `name` of an object's member. */
export function piece(value: unknown, name?: string): Piece {
  const salt = randomBytes(16).toString('base64url');
  const text = encoded(name === undefined ? [salt, value] : [salt, name, value]);
  return { text, element: { '...': digestOf(text) } };
}

/** An SD-JWT as it is presented: the JWT and the pieces that are disclosed. */
export const presented = (jwt: string, pieces: readonly Piece[]) =>
  [jwt, ...pieces.map(({ text }) => text), ''].join('~');

export interface Binding {
  aud: string;
  by: MandateKey;
  header?: object;
  claims?: object;
  now_ms?: number;
}

const bindingClaims = (bound: string, { aud, claims = {}, now_ms = Date.now() }: Binding) => ({
  iat: seconds(now_ms),
  aud,
  nonce: 'a8b7c6d5e4f3a2b1',
  sd_hash: digestOf(bound),
  ...claims,
});

/** Adds a key binding behind the last `~`. */
export const withBinding = (bound: string, binding: Binding): string =>
  `${bound}${jwtOf(binding.by, { typ: 'kb+jwt', ...binding.header }, bindingClaims(bound, binding))}`;

/** Adds a key binding that is an SD-JWT of its own and closes the mandate. */
export function withNextBinding(
  bound: string,
  binding: Binding,
  closed: object = { vct: 'mandate.payment.1' },
): string {
  const { text, element } = piece(closed);
  const claims = { ...bindingClaims(bound, binding), delegate_payload: [element], _sd_alg: 'sha-256' };
  return `${bound}~${jwtOf(binding.by, { typ: 'kb+sd-jwt', ...binding.header }, claims)}~${text}~`;
}

/** The constraint that binds a mandate to its checkout. */
export const REFERENCE = {
  type: 'payment.reference',
  conditional_transaction_id: 'FzLoxbbtgQGYZxoSM2NJYJtkFTSsdfUB',
};

export const range = (max: number, currency = 'USD', more: object = {}) => ({
  type: 'payment.amount_range',
  currency,
  max,
  ...more,
});

export const inAll = (max: number, currency = 'USD') => ({ type: 'payment.budget', currency, max });

export interface MandateOptions {
  constraints: readonly object[];
  /** Claims of the mandate; undefined leaves one out. */
  mandate?: object;
  /** Claims of the JWT, and its header. */
  claims?: object;
  header?: object;
  /** Pieces of the constraints that are disclosed. */
  pieces?: readonly Piece[];
  now_ms?: number;
}

/** An AP2 open payment mandate for an agent's key, as its provider signs it, with everything disclosed. */
export function ap2Mandate(provider: MandateKey, agent: MandateKey, options: MandateOptions) {
  const { constraints, mandate = {}, claims = {}, header = {}, pieces = [], now_ms = Date.now() } = options;
  const content = piece({
    vct: 'mandate.payment.open.1',
    constraints,
    cnf: { jwk: bare(agent) },
    iat: seconds(now_ms),
    exp: seconds(now_ms) + 86_400,
    ...mandate,
  });
  const body = { delegate_payload: [content.element], _sd_alg: 'sha-256', ...claims };
  const jwt = jwtOf(provider, { typ: 'example+sd-jwt', kid: provider.jwk.kid, ...header }, body);
  return { jwt, content, text: presented(jwt, [...pieces, content]) };
}

/** A Verifiable Intent credential of a user (L1) and the user's open payment mandate for an agent's key (L2). */
export function viMandate(
  issuer: MandateKey,
  user: MandateKey,
  agent: MandateKey,
  options: MandateOptions & { l1?: object; l2_header?: object },
) {
  const { constraints, mandate = {}, claims = {}, header = {}, pieces = [], now_ms = Date.now() } = options;
  const email = piece('ada@example.org', 'email');
  const card = {
    iss: 'https://issuer.example',
    sub: 'user-8a3f9c21',
    iat: seconds(now_ms),
    exp: seconds(now_ms) + 300 * 86_400,
    vct: 'https://credentials.mastercard.com/card',
    cnf: { jwk: bare(user) },
    pan_last_four: '1234',
    scheme: 'mastercard',
    _sd_alg: 'sha-256',
    _sd: [email.element['...']],
    ...options.l1,
  };
  const l1 = `${jwtOf(issuer, { typ: 'sd+jwt', kid: issuer.jwk.kid, ...header }, card)}~`;
  const checkout = piece({ vct: 'mandate.checkout.open', constraints: [] });
  const content = piece({
    vct: 'mandate.payment.open',
    constraints,
    cnf: { jwk: bare(agent), kid: 'agent-key-1' },
    payment_instrument: {
      type: 'mastercard.srcDigitalCard',
      id: 'f199c3dd',
      description: 'Mastercard **** 1234',
    },
    ...mandate,
  });
  const all = [...pieces, checkout, content];
  const body = {
    nonce: 'b7e2f4a9c1d3e8b2',
    iss: 'https://wallet.example',
    aud: 'https://agent.example',
    iat: seconds(now_ms),
    exp: seconds(now_ms) + 86_400,
    sd_hash: digestOf(l1),
    delegate_payload: [checkout.element, content.element],
    _sd_alg: 'sha-256',
    _sd: all.map(({ element }) => element['...']),
    ...claims,
  };
  const jwt = jwtOf(user, { typ: 'kb-sd-jwt+kb', kid: 'user-key-1', ...options.l2_header }, body);
  const l2 = presented(jwt, [...pieces, content]);
  return { jwt, l1, l2, content, checkout, joined: (inner: string) => `${l1}~${inner}` };
}
