/** SHA-256 of bytes, or of a text in UTF-8. */
export async function sha256(of: string | Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const bytes = typeof of === 'string' ? new TextEncoder().encode(of) : of;
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
}

/** A SHA-256 as the service shows hashes: `sha256:` and hex. */
export async function shownSha256(of: string | Uint8Array<ArrayBuffer>): Promise<string> {
  return `sha256:${[...(await sha256(of))].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
