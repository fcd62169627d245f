/** Characters that no reader sees or that change the direction of a line: control, format, default-ignorable and so on. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{DI}]/gu;
/** A dot, or what mail programs and browsers read as one, between two characters of a host name. */
const DOT_IN_NAME = /(?<=[\p{L}\p{N}_-])[.\u3002\uff0e\uff61](?=[\p{L}\p{N}_-])/gu;
const AT = /[@\ufe6b\uff20]/g;

/**
 * Another person's words on one line, in which no mail program finds a link or an address: NFC, invisible characters
 * dropped, white space folded, `[.]` and `(at)` in host names and addresses. At most `max` code points of the original.
 */
export function foreignWords(text: string, max: number): string {
  const line = text
    .normalize('NFC')
    .replaceAll(/\s+/gu, ' ')
    .replaceAll(INVISIBLE, '')
    .replaceAll(/ {2,}/g, ' ')
    .trim();
  const points = [...line];
  const short =
    points.length > max
      ? `${points
          .slice(0, max - 1)
          .join('')
          .trimEnd()}…`
      : line;
  return short.replaceAll(DOT_IN_NAME, '[.]').replaceAll(AT, '(at)').replaceAll('://', ':/[/]');
}
