/** The characters that must be escaped inside a quoted array element. */
const ESCAPED = /["\\]/g;

/**
 * Writes an array of texts, numbers, booleans, bytes or nulls as a PostgreSQL array literal. The driver would write the
 * same, but checks the rules of all types for each element, and scans each text twice.
 */
export function arrayLiteral(values: readonly unknown[]): string {
  let text = '{';
  for (let i = 0; i < values.length; i++) {
    if (i > 0) text += ',';
    const value = values[i];
    if (value === null || value === undefined) text += 'NULL';
    else if (typeof value === 'string') {
      const plain = !value.includes('"') && !value.includes('\\');
      text += `"${plain ? value : value.replace(ESCAPED, '\\$&')}"`;
    } else if (Buffer.isBuffer(value)) text += `"\\\\x${value.toString('hex')}"`;
    else text += String(value);
  }
  return `${text}}`;
}
