const encoder = new TextEncoder();
const NONCE_BYTES = 12;
const MIN_SECRET_CHARACTERS = 32;

const toBase64 = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes));
const fromBase64 = (text: string) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

/** Seals and opens short texts: AES-256-GCM, bound to the name they are kept under. */
export interface Sealer {
  seal(name: string, text: string): Promise<string>;
  /** Rejects when it was sealed with another secret, under another name, or altered since. */
  open(name: string, sealed: string): Promise<string>;
}

/** Throws a `TypeError` when the secret is too short to be one. */
export function makeSealer(secret: string): Sealer {
  if (typeof secret !== 'string' || secret.length < MIN_SECRET_CHARACTERS) {
    throw new TypeError(
      `secret must have at least ${MIN_SECRET_CHARACTERS} characters, because it encrypts tokens`,
    );
  }
  const key = (async () => {
    const material = await crypto.subtle.importKey('raw', encoder.encode(secret), 'HKDF', false, [
      'deriveKey',
    ]);
    const info = encoder.encode('purser armed cards');
    return crypto.subtle.deriveKey(
      { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info },
      material,
      { name: 'AES-GCM', length: 256 },
      false,
      ['encrypt', 'decrypt'],
    );
  })();
  return {
    async seal(name, text) {
      const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
      const how = { name: 'AES-GCM', iv, additionalData: encoder.encode(name) };
      const sealed = new Uint8Array(await crypto.subtle.encrypt(how, await key, encoder.encode(text)));
      return toBase64(new Uint8Array([...iv, ...sealed]));
    },
    async open(name, sealed) {
      const bytes = fromBase64(sealed);
      const how = {
        name: 'AES-GCM',
        iv: bytes.slice(0, NONCE_BYTES),
        additionalData: encoder.encode(name),
      };
      return new TextDecoder().decode(await crypto.subtle.decrypt(how, await key, bytes.slice(NONCE_BYTES)));
    },
  };
}
