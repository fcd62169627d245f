import { type Conflict, conflictsWith } from './conflicts.ts';
import {
  ADD_ONS,
  BUYING,
  COUNTED,
  DONE_BEFORE,
  LOOKING_ONLY,
  NEEDS,
  SIZE,
  SLICING,
  TAKEN_UP,
} from './data/record-language.ts';
import { carriesMeaning } from './language/everyday-words.ts';
import { figuresIn, plainAccount } from './language/figures.ts';
import { tokenize } from './language/text.ts';
import { MAX_QUOTE_LENGTH } from './manipulation.ts';
import type { AuthorityReading, NamedEntry } from './reading/authority-terms.ts';
import type { FieldText, SpendReading } from './reading/spend-reading.ts';

const REFUND_TYPES = /refund|reversal|chargeback|return/;

const isAmount = (spend: SpendReading, value: number) => Math.abs(value - spend.amount) < 0.005;

/** Conflict: the task asks to look, count or write something, and nowhere to spend. */
export function askedToLook(spend: SpendReading): Conflict | undefined {
  const match = LOOKING_ONLY.exec(spend.task.folded);
  if (match === null || BUYING.test(spend.task.folded)) return undefined;
  return {
    evidence: [conflictsWith('task', match[0].trim())],
    sentence: `The task asks only to look ("${match[0].trim()}"), not to spend.`,
    confidence: 0.6,
  };
}

/** Conflict: the trace shows that the same amount was paid before. Refunds are exempt: they name what they return. */
export function settledBefore(spend: SpendReading): Conflict | undefined {
  if (REFUND_TYPES.test(spend.request.action.type.toLowerCase())) return undefined;
  const account = plainAccount(spend.request.action.payee_id ?? '');
  for (const step of spend.trace) {
    const done = DONE_BEFORE.exec(step.folded);
    if (done === null || !figuresIn(step.folded).some((one) => isAmount(spend, one.value))) continue;
    const names = step.tokens;
    const samePayee =
      (account.length > 3 && names.some((token) => token.word.toUpperCase() === account)) ||
      spend.merchant_tokens.some(
        (token) => carriesMeaning(token) && names.some((name) => name.word === token.word),
      );
    const sameThing = spend.description_tokens.filter(
      (token) => /\d/.test(token.word) && names.some((name) => name.word === token.word),
    );
    if (!samePayee && sameThing.length < 2) continue;
    return {
      evidence: [conflictsWith(step.field, step.text)],
      sentence: `The run shows that the same sum was paid before ("${done[0].trim()}").`,
      confidence: 0.75,
    };
  }
  return undefined;
}

/** Conflict: for exactly this amount the trace chose another thing than the description says. */
export function tookUpOther(spend: SpendReading): Conflict | undefined {
  const said = spend.description_tokens.filter(carriesMeaning);
  if (said.length === 0) return undefined;
  const known = new Set([...said, ...spend.merchant_tokens].map((token) => token.stem));
  for (const step of spend.trace) {
    const match = TAKEN_UP.exec(step.folded);
    if (match === null) continue;
    const figure = figuresIn(step.folded).find(
      (one) => isAmount(spend, one.value) && one.at > (match?.index ?? 0),
    );
    if (figure === undefined) continue;
    const thing = tokenize(step.folded.slice(match.index + match[0].length, figure.at)).filter(
      (token) => carriesMeaning(token) && !/\d/.test(token.word),
    );
    if (thing.length < 2 || thing.some((token) => known.has(token.stem))) continue;
    const text = thing.map((token) => token.raw).join(' ');
    return {
      evidence: [
        conflictsWith(step.field, step.text),
        conflictsWith('action.description', spend.description.text),
      ],
      sentence: `The run took up "${text}" for this sum, and the description says something else.`,
      confidence: 0.7,
    };
  }
  return undefined;
}

/** Conflict: the refund does not go back to where a record of the trace says the money came from. */
export function refundElsewhere(spend: SpendReading): Conflict | undefined {
  const { type, payee_id } = spend.request.action;
  if (payee_id === undefined || !REFUND_TYPES.test(type.toLowerCase())) return undefined;
  const account = plainAccount(payee_id);
  for (const step of spend.trace) {
    const charged = chargedIn(step);
    if (charged === undefined || charged === account || account.includes(charged)) continue;
    return {
      evidence: [conflictsWith('action.payee_id', payee_id), conflictsWith(step.field, step.text)],
      sentence: 'The refund would go elsewhere than where the record says the money came from.',
      confidence: 0.75,
    };
  }
  return undefined;
}

const CHARGED =
  /\b(?:paid|charged|payment)\b[^.;]{0,30}?\b(?:on|with|by|to|via|from)\s+((?:[a-z]+[_-])*[a-z]*\d[\w-]{3,40})/;

function chargedIn(step: FieldText): string | undefined {
  const match = CHARGED.exec(step.folded);
  return match === null ? undefined : plainAccount(match[1] ?? '');
}

/** The entry of the operator's list that this spend is about, found by a shared name or two shared words. */
export function entryFor(spend: SpendReading, authority: AuthorityReading): NamedEntry | undefined {
  if (authority.entries.length === 0) return undefined;
  const tokens = [...spend.description_tokens, ...spend.task_tokens];
  const stems = new Set(tokens.map((token) => token.stem));
  const words = new Set(tokens.map((token) => token.word));
  let best: NamedEntry | undefined;
  let most = 0;
  for (const entry of authority.entries) {
    const shared = [...entry.stems].filter((stem) => stems.has(stem)).length;
    const named = [...entry.names].some((name) => words.has(name));
    const score = shared + (named ? 1.5 : 0);
    if (score >= 2 && score > most) {
      most = score;
      best = entry;
    }
  }
  return best;
}

const NUMBERS = ['', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

/** The numbers of people and of nights that a text names, each with its words. */
function countsIn(folded: string): { people: Map<number, string>; nights: Map<number, string> } {
  const counts = { people: new Map<number, string>(), nights: new Map<number, string>() };
  for (const [words, number = '', people] of folded.matchAll(COUNTED)) {
    const value = NUMBERS.indexOf(number) > 0 ? NUMBERS.indexOf(number) : Number(number);
    counts[people === undefined ? 'nights' : 'people'].set(value, words);
  }
  return counts;
}

/** The description counts people or nights, and the steps of the run count others only. */
export function otherCount(spend: SpendReading): Conflict | undefined {
  const said = countsIn(spend.description.folded);
  for (const kind of ['people', 'nights'] as const) {
    const [first] = said[kind];
    if (first === undefined || said[kind].size > 1) continue;
    const [number, words] = first;
    const shown = spend.trace.flatMap((step) =>
      [...countsIn(step.folded)[kind]].map(([value, text]) => ({ value, text, step })),
    );
    const [other] = shown;
    if (other === undefined || shown.some(({ value }) => value === number)) continue;
    return {
      evidence: [conflictsWith('action.description', words), conflictsWith(other.step.field, other.text)],
      sentence: `The description says "${words}", and the run shows "${other.text}".`,
      confidence: 0.65,
    };
  }
  return undefined;
}

/** Conflict: amount or size differ from what the operator's list has for this spend. */
export function otherThanListed(spend: SpendReading, authority: AuthorityReading): Conflict | undefined {
  const entry = entryFor(spend, authority);
  if (entry === undefined) return undefined;
  if (entry.ceiling !== undefined && spend.amount > entry.ceiling) {
    return {
      evidence: [
        conflictsWith('action.amount_minor', String(spend.request.action.amount_minor)),
        conflictsWith(entry.field, entry.text),
      ],
      sentence: `The amount of ${spend.amount} is over what the purpose lists: "${entry.text.slice(0, MAX_QUOTE_LENGTH)}".`,
      confidence: 0.8,
    };
  }
  const wanted = SIZE.exec(entry.folded);
  const bought = SIZE.exec(spend.description.folded);
  if (wanted === null || bought === null || wanted[2] === bought[2] || wanted[1]?.[0] !== bought[1]?.[0])
    return undefined;
  return {
    evidence: [conflictsWith('action.description', bought[0]), conflictsWith(entry.field, entry.text)],
    sentence: `"${bought[0]}" is bought, while the purpose lists "${wanted[0]}".`,
    confidence: 0.8,
  };
}

/** The size in the description, if it cannot be compared with the size in the operator's list. */
export function unsureSize(
  spend: SpendReading,
  authority: AuthorityReading,
): { field: string; text: string } | undefined {
  const wanted = SIZE.exec(entryFor(spend, authority)?.folded ?? '');
  const bought = SIZE.exec(spend.description.folded);
  return wanted === null || bought === null || wanted[2] === bought[2]
    ? undefined
    : { field: 'action.description', text: bought[0] };
}

/** Conflict: something is added, and the purpose wants exactly what was asked for. */
export function besidesWanted(spend: SpendReading, authority: AuthorityReading): Conflict | undefined {
  if (authority.exactly === undefined) return undefined;
  const match = ADD_ONS.exec(spend.description.folded);
  if (match === null || ADD_ONS.test(spend.task.folded)) return undefined;
  return {
    evidence: [
      conflictsWith('action.description', match[0]),
      conflictsWith(authority.exactly.field, authority.exactly.text),
    ],
    sentence: `"${match[0].trim()}": something is added, and the purpose wants only what was asked for ("${authority.exactly.text.slice(0, MAX_QUOTE_LENGTH)}").`,
    confidence: 0.7,
  };
}

/** Conflict: the request speaks of splitting an amount to hide it, or of passing money on. */
export function slicedSum(spend: SpendReading): Conflict | undefined {
  for (const text of [spend.description, spend.task, ...spend.trace]) {
    const match = SLICING.exec(text.folded);
    if (match === null) continue;
    return {
      evidence: [conflictsWith(text.field, match[0])],
      sentence: `The request speaks of cutting the sum or passing money on ("${match[0].trim()}").`,
      confidence: 0.7,
    };
  }
  return undefined;
}

/** The properties that the task insists on, if the trace does not show any of them. */
export function unmetNeed(spend: SpendReading): { field: string; text: string } | undefined {
  const match = NEEDS.exec(spend.task.folded);
  if (match === null) return undefined;
  const shown = spend.trace.some((step) => /:\s?(?:true|yes|ok|available|confirmed)\b/.test(step.folded));
  return shown ? undefined : { field: 'task', text: match[0].trim() };
}
