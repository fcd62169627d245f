import type { ENCODINGS } from '@purser/contract/values/history';

export type Encoding = (typeof ENCODINGS)[number];

const XML_DECLARATION = /^<\?xml[^>]*\bencoding=["']([A-Za-z0-9_-]{1,40})["']/;
const NAMES: Readonly<Record<string, Encoding>> = {
  'utf-8': 'utf-8',
  utf8: 'utf-8',
  'utf-16': 'utf-16le',
  'iso-8859-1': 'windows-1252',
  'us-ascii': 'utf-8',
  'windows-1252': 'windows-1252',
  'iso-8859-15': 'iso-8859-15',
};

/** The encoding that the bytes at the beginning of a file name by their mark; null: they have none. */
export function markedEncoding(head: Uint8Array): Encoding | null {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return 'utf-8';
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  return head[0] === 0xfe && head[1] === 0xff ? 'utf-16be' : null;
}

/** The encoding that an XML file declares; null: one that is not read. */
export function xmlEncoding(head: Uint8Array): Encoding | null {
  const marked = markedEncoding(head);
  if (marked !== null) return marked;
  const declared = XML_DECLARATION.exec(Buffer.from(head.subarray(0, 200)).toString('latin1'))?.[1];
  return declared === undefined ? 'utf-8' : (NAMES[declared.toLowerCase()] ?? null);
}

/** True if a beginning of a file is UTF-8, whose last character may be cut. */
export function isUtf8(head: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** Makes a decoder of a file that arrives in parts. Bytes that the encoding does not have become U+FFFD. A mark at the beginning is dropped. */
export function makeDecoder(encoding: Encoding): { push: (bytes: Uint8Array) => string; end: () => string } {
  const decoder = new TextDecoder(encoding);
  return {
    push: (bytes) => decoder.decode(bytes, { stream: true }),
    end: () => decoder.decode(),
  };
}
