/** Source of a pattern for an IBAN after its country, written in groups or in one piece. */
export const IBAN_REST = String.raw`\d{2}(?:(?: [A-Z0-9]{4})(?: (?=[A-Z]*\d)[A-Z0-9]{4}){1,6}(?: (?=[A-Z]*\d)[A-Z0-9]{1,3})?\b|[A-Z0-9]{8,30}\b)`;

/** The form in which accounts and handles are compared: without rail, spaces and punctuation, in capitals. */
export function plainAccount(payee_id: string): string {
  return payee_id
    .slice(payee_id.indexOf(':') + 1)
    .replaceAll(/[^A-Za-z0-9]/g, '')
    .toUpperCase();
}
