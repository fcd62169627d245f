/** Source of a pattern for an IBAN after its country, written in groups or in one piece. */
export const IBAN_REST = String.raw`\d{2}(?:(?: [A-Z0-9]{4})(?: (?=[A-Z]*\d)[A-Z0-9]{4}){1,6}(?: (?=[A-Z]*\d)[A-Z0-9]{1,3})?\b|[A-Z0-9]{8,30}\b)`;

/** The form in which accounts and handles are compared: without rail, spaces and punctuation, in capitals. */
export function plainAccount(payee_id: string): string {
  return payee_id
    .slice(payee_id.indexOf(':') + 1)
    .replaceAll(/[^A-Za-z0-9]/g, '')
    .toUpperCase();
}

/** The code of a unit: letters, a number of at most three digits, a letter that is no measure ("4B", not "4h"). */
export const UNIT_CODE = /(?<![\p{L}\d.,/-])([a-z]{0,3})(\d{1,3})([a-f]?)(?![\p{L}\d/%-]|[.,]\d)/gu;
/** "h1 to h9" */
export const UNIT_RANGE =
  /(?<![\p{L}\d])([a-z]{1,3})(\d{1,3})()\s?(?:to|until|-|–|through|bis|a|al|au|tot|till)\s?\1(\d{1,3})(?![\p{L}\d])/gu;
