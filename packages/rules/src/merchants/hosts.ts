import { domainToASCII, domainToUnicode } from 'node:url';
import { STROKE } from './look-alikes.ts';
import { foldCase, latinText } from './names.ts';

/** The parts of a text that are host names or contain one, such as URLs and e-mail addresses. */
export function hostTokens(plain: string): { text: string; forms: string[] }[] {
  return plain
    .split(/[\s,;|<>()[\]{}"'*]+/u)
    .map((text) => ({ text, forms: hostForms(text) }))
    .filter((token) => token.forms.length > 0);
}

/** The folded forms of the host in a text without spaces; empty where the text is not a host name or URL. */
export function hostForms(text: string): string[] {
  const scheme = text.indexOf('://');
  const rest = scheme < 0 ? text.replace(/^(?:mailto:|\/\/)/i, '') : text.slice(scheme + 3);
  const authority = (/^[^/?#\\]*/.exec(rest) as RegExpExecArray)[0];
  const host = authority
    .slice(authority.lastIndexOf('@') + 1)
    .replace(/:\d*$/, '')
    .replaceAll('。', '.')
    .replace(/^\*\./, '');
  const labels = host.split('.');
  while (labels.at(-1) === '') labels.pop();
  if (labels[0] === '') labels.shift();
  const top = labels.at(-1) ?? '';
  // "S.A." and "3.14" are not hosts; labels have at most 63 octets (RFC 1035).
  if (labels.length < 2 || top.length < 2 || /^\d+$/.test(top)) return [];
  if (!labels.every((label) => label.length <= 63 && /^[\p{L}\p{N}\p{M}_-]+$/u.test(label))) return [];
  const name = labels.join('.');
  if (/^[\x20-\x7e]*$/.test(name) && !/xn--/i.test(name)) return [name.toLowerCase()];
  const decoded = domainToUnicode(domainToASCII(name)) || name;
  return [...new Set([foldHost(name), foldHost(decoded), foldHost(foldCase(decoded))])];
}

function foldHost(name: string): string {
  return foldCase(latinText(name)).replaceAll(STROKE, 'i');
}

/** The entries of the host and of each of its parent domains. */
export function hostsAbove<Kept>(hosts: ReadonlyMap<string, Kept>, host: string): Kept[] {
  const found: Kept[] = [];
  for (let name = host; name.includes('.'); name = name.slice(name.indexOf('.') + 1)) {
    const kept = hosts.get(name);
    if (kept !== undefined) found.push(kept);
  }
  return found;
}
