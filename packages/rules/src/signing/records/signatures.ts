import type { Signature } from '@purser/contract/signing/fields';
import { canonicalJson } from '../../values/canonical-json.ts';

/** The text in which a signature is kept and sealed: what of the passkey's answer proves it, in RFC 8785 form. */
export function signatureText({ statement, response: { id, response } }: Signature): string {
  const { clientDataJSON, authenticatorData, signature } = response;
  return canonicalJson({
    statement,
    response: { id, response: { clientDataJSON, authenticatorData, signature } },
  });
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** Reads what `signatureText` wrote; null for any other text. */
export function signatureOf(text: string): Signature | null {
  try {
    const found = JSON.parse(text) as Signature;
    const { id, response } = found.response;
    const parts = [
      found.statement,
      id,
      response.clientDataJSON,
      response.authenticatorData,
      response.signature,
    ];
    return parts.every(isText) && signatureText(found) === text ? found : null;
  } catch {
    return null;
  }
}
