import type { PurposeEvidence } from '../domain/assessment.ts';
import { ATTACK_HINTS, ATTACK_MARKS } from './data/attack-hints.ts';
import { ATTACK_PATTERNS, SECRECY, URGENCY } from './data/attack-phrases.ts';
import { readTerms } from './data/read-data.ts';
import { COMMON_STEMS } from './language/everyday-words.ts';
import { COMPANY_WORDS } from './language/lexicon.ts';
import { foldText, foldWord, MAX_TEXT_LENGTH, type Token, tokenize } from './language/text.ts';
import { domainsIn } from './reading/authority-reading.ts';
import type { AuthorityReading } from './reading/authority-terms.ts';
import type { FieldText, SpendReading } from './reading/spend-reading.ts';

/** A sign that the request tries to mislead. `sentence` completes "The request …". */
export interface Suspicion {
  kind: 'language' | 'hidden' | 'look_alike' | 'pressure';
  evidence: PurposeEvidence;
  sentence: string;
}

/** Ordinary words and names that are one letter away from a company's name but do not imitate it. */
const ORDINARY_NEAR_NAMES = new Set(readTerms('ordinary-words').get('near_names'));

/**
 * Format characters, tag characters, variation selectors of the supplement, and fillers that render as nothing. Joiners
 * (U+200C, U+200D) are allowed because scripts and emoji need them.
 */
const HIDDEN =
  /(?![\u200c\u200d])\p{Cf}|\u034f|\u115f|\u1160|\u17b4|\u17b5|\u3164|\uffa0|[\u{e0100}-\u{e01ef}]/u;
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}]/u;
const MARKS_OF_DIRECTION = /[\u200e\u200f\u061c]/g;
const RUN_OF_LETTERS = /[\p{L}\d]+/gu;
const LATIN = /\p{Script=Latin}/u;
const LIKE_LATIN = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u;
/** Greek letters that occur beside Latin ones in units and formulas. */
const IN_UNITS = /[µμΩΔ]/gu;
const NON_ASCII = /\P{ASCII}/u;

/** In UTF-16 code units. */
export const MAX_QUOTE_LENGTH = 160;
const MAX_NAME_LENGTH = 24;

/** A quotation of the words around a place of a text, at most `MAX_QUOTE_LENGTH` long. */
export function quoteAround(text: string, at: number, length: number): string {
  const from = Math.max(0, at - 20);
  const quote = text.slice(from, Math.min(text.length, at + length + 20, from + MAX_QUOTE_LENGTH));
  return quote.replace(/\s+/g, ' ').trim();
}

/** The state in a record of the trace ("status: approved") is ignored; the text beside it is not. */
const RECORDED_STATE = /\b(?:status|state|result)\s?(?:[:=]|is)?\s?(?:approved|allowed|authori[sz]ed)\b/g;

function languageIn(text: FieldText): Suspicion | undefined {
  if (text.folded.length < 8) return undefined;
  const folded = text.field.startsWith('trace[')
    ? text.folded.replace(RECORDED_STATE, (record) => ' '.repeat(record.length))
    : text.folded;
  for (const { pattern, meaning } of ATTACK_PATTERNS) {
    const match = pattern.exec(folded);
    if (match !== null) {
      const quote = quoteAround(folded, match.index, match[0].length);
      return {
        kind: 'language',
        evidence: { field: text.field, text: quote, effect: 'suspicious' },
        sentence: `contains language that ${meaning} ("${quote}")`,
      };
    }
  }
  return undefined;
}

function hiddenIn(text: Pick<FieldText, 'field' | 'text'>): Suspicion | undefined {
  if (!NON_ASCII.test(text.text)) return undefined;
  const read = RIGHT_TO_LEFT.test(text.text) ? text.text.replace(MARKS_OF_DIRECTION, '') : text.text;
  const hidden = HIDDEN.exec(read);
  if (hidden !== null) {
    const code = (hidden[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return {
      kind: 'hidden',
      evidence: { field: text.field, text: `U+${code}`, effect: 'suspicious' },
      sentence: `contains an invisible character (U+${code})`,
    };
  }
  const mixed = LIKE_LATIN.test(read)
    ? read.match(RUN_OF_LETTERS)?.find((run) => LATIN.test(run) && LIKE_LATIN.test(run.replace(IN_UNITS, '')))
    : undefined;
  if (mixed === undefined) return undefined;
  return {
    kind: 'hidden',
    evidence: { field: text.field, text: mixed.slice(0, MAX_QUOTE_LENGTH), effect: 'suspicious' },
    sentence: 'mixes letters of several alphabets within one word',
  };
}

const DIGIT_LETTERS: Record<string, string> = { 0: 'o', 1: 'l', 3: 'e', 4: 'a', 5: 's', 7: 't', 8: 'b' };

/** True if two words differ by one letter that is changed, added, left out or swapped with its neighbour. */
export function isOneOff(a: string, b: string): boolean {
  if (a === b || Math.abs(a.length - b.length) > 1) return false;
  let i = 0;
  while (i < a.length && a[i] === b[i]) i += 1;
  let j = 0;
  while (j < Math.min(a.length, b.length) - i && a[a.length - 1 - j] === b[b.length - 1 - j]) j += 1;
  const restA = a.slice(i, a.length - j);
  const restB = b.slice(i, b.length - j);
  if (restA.length <= 1 && restB.length <= 1) return true;
  return restA.length === 2 && restB.length === 2 && restA[0] === restB[1] && restA[1] === restB[0];
}

/** Each company word with one letter left out, so that a similar name is found without comparing all of them. */
const NEAR_COMPANY_WORDS: ReadonlyMap<string, string> = new Map(
  [...COMPANY_WORDS.keys()]
    .filter((word) => word.length >= 6 && word.length <= MAX_NAME_LENGTH)
    .flatMap((word) => [...word].map((_, i) => [word.slice(0, i) + word.slice(i + 1), word] as const)),
);

function nearCompany(word: string): string | undefined {
  if (word.length < 5 || word.length > MAX_NAME_LENGTH || COMPANY_WORDS.has(word)) return undefined;
  if (ORDINARY_NEAR_NAMES.has(word)) return undefined;
  const spelled = word.replace(/[0134578]/g, (digit) => DIGIT_LETTERS[digit] ?? digit);
  if (spelled !== word && /\p{L}/u.test(word) && COMPANY_WORDS.has(spelled)) return spelled;
  const direct = NEAR_COMPANY_WORDS.get(word);
  if (direct !== undefined && direct[0] === word[0] && isOneOff(word, direct)) return direct;
  // A different first letter makes a different name, not a misspelling.
  for (let i = 1; i < word.length; i += 1) {
    const shorter = word.slice(0, i) + word.slice(i + 1);
    if (COMPANY_WORDS.has(shorter) && shorter.length >= 6) return shorter;
    const near = NEAR_COMPANY_WORDS.get(shorter);
    if (near !== undefined && near[0] === word[0] && isOneOff(word, near)) return near;
  }
  return undefined;
}

function nearCompanyOf(token: Token): string | undefined {
  if (token.near_company === undefined) token.near_company = nearCompany(token.word) ?? null;
  return token.near_company ?? undefined;
}

const PAYMENT_HOST_WORDS =
  /(?:^|[-.])(?:bill|billing|billpay|invoice|invoices|secure|payment|payments|pay|support|login|verify|account|accounts|refund|service|center|centre|portal|update|checkout|outlet|online|official|help|shop|store)(?=[-.]|$)/;

const MIDDLEMEN = new Set([
  'reseller',
  'resellers',
  'resale',
  'broker',
  'brokers',
  'outlet',
  'unofficial',
  'surplus',
]);

/** A merchant's name that imitates a known company, or one that the operator or the task names. */
function lookAlike(spend: SpendReading, authority: AuthorityReading): Suspicion | undefined {
  const suspicion = (text: string, sentence: string): Suspicion => ({
    kind: 'look_alike',
    evidence: { field: 'action.merchant', text, effect: 'suspicious' },
    sentence,
  });
  for (const token of spend.merchant_tokens) {
    if (
      token.word.length < 5 ||
      token.word.length > MAX_NAME_LENGTH ||
      COMMON_STEMS.has(token.stem) ||
      authority.words.has(token.stem)
    )
      continue;
    const named = authority.imitable_names.find(
      (name) => name[0] === token.word[0] && isOneOff(token.word, name),
    );
    const isPlural = named !== undefined && (`${named}s` === token.word || named === `${token.word}s`);
    const near = isPlural ? undefined : (named ?? nearCompanyOf(token));
    if (near !== undefined && `${near}s` !== token.word && near !== `${token.word}s`) {
      return suspicion(token.raw, `is paid to "${token.raw}", which nearly spells "${near}" but is not it`);
    }
  }
  const named = spend.merchant_tokens.find((token) => authority.names.has(token.word));
  const between = spend.merchant_tokens.find(
    (token) => MIDDLEMEN.has(token.word) && !authority.words.has(token.stem),
  );
  if (named !== undefined && between !== undefined) {
    return suspicion(
      spend.merchant.text.slice(0, MAX_QUOTE_LENGTH),
      `is paid to "${spend.merchant.text.slice(0, MAX_QUOTE_LENGTH)}", which is not the ${named.raw} that the purpose names`,
    );
  }
  const hosts = domainsIn(spend.merchant.folded);
  if (hosts.length === 0) return undefined;
  const wanted = [...authority.domains, ...domainsIn(spend.task.folded)];
  const known = new Set(
    spend.known.matches.flatMap((match) => tokenize(match.text).map((token) => token.word)),
  );
  for (const host of hosts) {
    for (const reference of wanted) {
      const core = reference.split('.').slice(0, -1).join('.');
      const same = host === reference || host.endsWith(`.${reference}`);
      const flat = host.replaceAll('-', '').replaceAll('.', '');
      if (!same && core.length >= 5 && flat.includes(core.replaceAll('-', '').replaceAll('.', ''))) {
        return suspicion(host, `is paid to ${host}, which imitates ${reference}`);
      }
    }
    const hyphenated = host
      .split('.')
      .slice(0, -1)
      .flatMap((label) => (label.includes('-') ? label.split('-') : []))
      .find(
        (part) =>
          COMPANY_WORDS.has(foldWord(part)) ||
          known.has(part) ||
          (part.length >= 5 && authority.names.has(part)),
      );
    if (hyphenated !== undefined && !COMPANY_WORDS.get(hyphenated)?.includes(' ')) {
      return suspicion(host, `is paid to ${host}, which is not a host of ${hyphenated}`);
    }
    const labels = host.split(/[-.]/);
    const imitated = labels
      .slice(0, -1)
      .find((label) => COMPANY_WORDS.has(foldWord(label)) || label === 'aws');
    if (
      imitated !== undefined &&
      labels.length > 2 &&
      PAYMENT_HOST_WORDS.test(host) &&
      !host.startsWith(`${imitated}.`)
    ) {
      const owner = host.split('.').slice(-2)[0];
      if (owner !== imitated)
        return suspicion(host, `is paid to ${host}, which is not a host of ${imitated}`);
    }
  }
  return undefined;
}

function pressure(spend: SpendReading, joined: string): Suspicion | undefined {
  if (!SECRECY.test(joined)) return undefined;
  const texts = [spend.description, spend.task, ...spend.trace];
  const secret = texts.find((text) => SECRECY.test(text.folded));
  if (secret === undefined || !texts.some((text) => URGENCY.test(text.folded))) return undefined;
  const match = SECRECY.exec(secret.folded);
  const quote = quoteAround(secret.folded, match?.index ?? 0, match?.[0].length ?? 0);
  return {
    kind: 'pressure',
    evidence: { field: secret.field, text: quote, effect: 'suspicious' },
    sentence: `presses for haste and asks for silence ("${quote}")`,
  };
}

const MAX_HINT_WORDS = 20_000;
/** Longer words are not cached, because V8 keeps the whole text in memory for a slice of more than 12 characters. */
const MAX_HINT_LENGTH = 12;
const hintBits = new Map<string, number>();

/** The attack patterns whose matches may contain the word, one bit each. */
function hintBitsOf(word: string): number {
  const known = hintBits.get(word);
  if (known !== undefined) return known;
  const bits = ATTACK_HINTS.reduce((found, hint, i) => (hint.test(word) ? found | (1 << i) : found), 0);
  if (word.length > MAX_HINT_LENGTH) return bits;
  if (hintBits.size >= MAX_HINT_WORDS) hintBits.clear();
  hintBits.set(word, bits);
  return bits;
}

/**
 * True if a text matches an attack pattern. A pattern runs only on texts with a word that all its matches contain, which
 * took a median spend from 47 to 39 µs.
 */
export function mayAttack(texts: readonly { folded: string }[]): boolean {
  return texts.some(({ folded }) => {
    let bits = ATTACK_MARKS.test(folded) ? -1 : 0;
    for (const word of folded.match(/[a-z]+/g) ?? []) bits |= hintBitsOf(word);
    return ATTACK_PATTERNS.some(({ pattern }, i) => (bits & (1 << i)) !== 0 && pattern.test(folded));
  });
}

/** All signs of an attempt to mislead, at most one per text and kind, in time linear in the length of the request. */
export function suspicionsIn(spend: SpendReading, authority: AuthorityReading): Suspicion[] {
  const texts = [spend.merchant, spend.description, spend.category, spend.task, ...spend.trace].filter(
    (text) => text.text !== '',
  );
  const found: (Suspicion | undefined)[] = [];
  const joined = texts.map((text) => text.folded).join('\n');
  if (mayAttack(texts)) found.push(...texts.map(languageIn));
  found.push(...texts.map(hiddenIn));
  const { type, payee_id } = spend.request.action;
  found.push(hiddenIn({ field: 'action.type', text: type }));
  if (payee_id !== undefined) found.push(hiddenIn({ field: 'action.payee_id', text: payee_id }));
  found.push(lookAlike(spend, authority), pressure(spend, joined));
  return found.filter((one) => one !== undefined);
}

/** The description up to the first sentence that addresses a judge, because the rest is not about goods. */
export function beforeAttack(description: string): string {
  const sentences = description.slice(0, MAX_TEXT_LENGTH).split(/(?<=[.!?\n])/);
  const first = sentences.findIndex((sentence) => {
    const folded = foldText(sentence);
    return ATTACK_PATTERNS.some(({ pattern }) => pattern.test(folded));
  });
  return first < 0 ? description : sentences.slice(0, first).join('');
}
