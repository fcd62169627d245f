/** In UTF-16 code units. */
export const MAX_QUOTE_LENGTH = 160;

/** A text cut to `MAX_QUOTE_LENGTH`, never within a character. */
export const cut = (text: string): string =>
  text.length <= MAX_QUOTE_LENGTH ? text : text.slice(0, MAX_QUOTE_LENGTH).replace(/[\uD800-\uDBFF]$/, '');

/** A text in quotation marks, cut to `MAX_QUOTE_LENGTH`. */
export const quoted = (text: string): string => `"${cut(text)}"`;
