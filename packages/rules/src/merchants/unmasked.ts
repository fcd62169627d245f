/** Matches the text after a right-to-left override, which is shown backwards. */
const OVERRIDDEN = /\u202e([^\u202a-\u202e\u2066-\u2069]*)/gu;
const ESCAPED = /(?:%[0-9a-f]{2})+/gi;
/** `%25` stands for a percent sign, so that escapes can be escaped. */
const MAX_ROUNDS = 3;

/**
 * Returns a merchant's name as a person or a browser sees it: text in a right-to-left override is reversed, and percent
 * escapes are decoded. A name with neither is returned unchanged.
 */
export function unmasked(merchant: string): string {
  let text = merchant.includes('\u202e')
    ? merchant.replace(OVERRIDDEN, (_, hidden: string) => [...hidden].reverse().join(''))
    : merchant;
  for (let i = 0; i < MAX_ROUNDS && text.includes('%'); i += 1) {
    const decoded = text.replace(ESCAPED, decode);
    if (decoded === text) break;
    text = decoded;
  }
  return text;
}

function decode(escaped: string): string {
  try {
    return decodeURIComponent(escaped);
  } catch {
    // Not UTF-8: as a browser shows it.
    return escaped;
  }
}
