const FIGURE = /(?<![\w.,])(\d{1,3}(?:[,' ]\d{3})+|\d{1,9})(?:[.,](\d{1,2}))?(?![\d\w])/g;

/** The figures in a folded text, with their positions. */
export function figuresIn(folded: string): { value: number; at: number }[] {
  if (!/\d/.test(folded)) return [];
  return [...folded.matchAll(FIGURE)].map((match) => ({
    value: Number((match[1] ?? '').replace(/[,' ]/g, '')) + Number(`0.${match[2] ?? 0}`),
    at: match.index,
  }));
}

/** A ceiling in running text. Group 1: whole units; 2: fraction; 3: a measure, with which it is not a total. */
const CEILING =
  /\b(?:up to|under|below|max(?:imum)?(?: of)?|cap(?:ped)?(?: at| of)?|not above|not over|at most|no more than|not more than|budget of|budget is|less than|(?:not|n't) exceed|(?:not|n't) spend more than|stay under|limit of|ceiling of|hochstens|maximal|bis zu|jusqu'a|hasta|tot)\s*:?\s*(?:usd|eur|gbp|chf|\$|€|£)?\s?(\d{1,3}(?:[ ,.']\d{3})+|\d{1,9})(?:[.,](\d{1,2}))?(?!\d)\s*(per|each|a |an |\/|%|days?|hours?|kg|km|people|persons|pcs|pieces|items|units|gb|tb|stars?|seats?|minutes?|weeks?|months?|miles)?/;

/** "The balance is under 90" states a level, not what may be spent. */
const LEVEL =
  /\b(?:balance|stock|level|credits?|account|inventory|supply|reserve)s?(?: (?:is|are|fell|falls|dropped|drops|went|goes|has fallen))? ?$/;

/** The ceiling that a text names, in major units and in its words. A measure ("under 30 days") is not a ceiling. */
export function ceilingIn(folded: string): { value: number; text: string } | undefined {
  if (!/\d/.test(folded)) return undefined;
  const match = CEILING.exec(folded);
  if (match === null || match[3] !== undefined) return undefined;
  if (LEVEL.test(folded.slice(0, match.index))) return undefined;
  const value = Number((match[1] ?? '').replace(/[ ,.']/g, '')) + Number(`0.${match[2] ?? 0}`);
  return { value, text: match[0].trim() };
}

/** Source of a pattern for an IBAN after its country, written in groups or in one piece. */
export const IBAN_REST = String.raw`\d{2}(?:(?: [A-Z0-9]{4})(?: (?=[A-Z]*\d)[A-Z0-9]{4}){1,6}(?: (?=[A-Z]*\d)[A-Z0-9]{1,3})?\b|[A-Z0-9]{8,30}\b)`;

/** The form in which accounts and handles are compared: without rail, spaces and punctuation, in capitals. */
export function plainAccount(payee_id: string): string {
  return payee_id
    .slice(payee_id.indexOf(':') + 1)
    .replaceAll(/[^A-Za-z0-9]/g, '')
    .toUpperCase();
}
