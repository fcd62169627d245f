import {
  CONDITIONAL_PROHIBITION,
  CONJUNCTIONS,
  ELSEWHERE,
  ENDS_LIST,
  EXCEPTS,
  FORBIDDEN_BEFORE,
  FORBIDDEN_BEHIND,
  FORBIDS_IN_JAPANESE,
  FREE_OF,
  HOLDS_AT_TIMES,
  HOLDS_AT_TIMES_IN_JAPANESE,
  MEASURES,
  MONEY_ITSELF,
  NOT,
  PREPOSITIONS,
  PRIVATE_USE,
  PROHIBITS,
  RELATIVE,
  RULED_OUT,
} from '../data/constraint-language.ts';
import type { Trade } from '../data/trades.ts';
import { carriesMeaning, STRESSES } from '../language/everyday-words.ts';
import { narrowTrades, privateCircleWords, tradeWords } from '../language/lexicon.ts';
import { foldText, type Token, tokenize } from '../language/text.ts';
import type { ForbiddenItem, Prohibition } from './authority-terms.ts';

type Forbidden = Omit<Prohibition, 'field' | 'text'>;

/** The prohibitions of a sentence, and the rest of it, which states what is wanted. */
export interface SentenceReading {
  forbidden: Forbidden[];
  wanted: string;
}

/** The items of a list, split at commas, slashes and conjunctions. */
function itemsOf(text: string): ForbiddenItem[] {
  const items: ForbiddenItem[] = [];
  for (const piece of text.split(/[,/]/)) {
    let run: Token[] = [];
    const close = () => {
      const item = itemOf(run);
      if (item !== undefined) items.push(item);
      run = [];
    };
    for (const token of tokenize(piece)) {
      if (CONJUNCTIONS.has(token.word)) close();
      else run.push(token);
    }
    close();
  }
  return items;
}

const IN_KANA = /^(?!(?:もの|こと|など|ため|これ|それ)$)\p{Script=Hiragana}{2,}$/u;

/** Kinds that are forbidden whatever is said of them behind: "no alcohol in the hut". */
const PLAIN_KINDS: ReadonlySet<string> = new Set(['alcohol', 'cash_like', 'gambling', 'adult']);

/** The plain kinds that an item begins with. */
const plainKinds = (tokens: readonly Token[]): Trade[] =>
  tradeWords(tokens)
    .filter(({ at, strong, trade }) => at === 0 && strong && PLAIN_KINDS.has(trade.family))
    .map(({ trade }) => trade);

function itemOf(run: readonly Token[]): ForbiddenItem | undefined {
  const start = run.findIndex((token) => !PREPOSITIONS.has(token.word));
  if (start < 0) return undefined;
  const trimmed = run.slice(start);
  const telling = trimmed.filter((token) => carriesMeaning(token) && !STRESSES.has(token.stem));
  // In kana alone most words are grammar, but not where nothing else is forbidden: たばこ.
  const content = telling.length > 0 ? telling : trimmed.filter(({ word }) => IN_KANA.test(word));
  if (content.length === 0) return undefined;
  return {
    stems: content.map((token) => token.stem),
    trades: new Set([
      // A single forbidden word means its whole trade, even if it has other meanings. A word among others does not:
      // "complete bicycles" does not mean everything in the trade of bicycles.
      ...narrowTrades(
        tradeWords(trimmed).filter(
          (match) => content.length === 1 || (match.strong && match.length >= content.length),
        ),
      ),
      ...plainKinds(trimmed),
    ]),
  };
}

/** The prohibition of a list of goods; undefined where it names none. */
export function forbiddenBy(text: string, exceptions = '', is_relative = false): Forbidden | undefined {
  const items = itemsOf(text);
  const private_use = privateCircleWords(tokenize(text)).length > 0 || PRIVATE_USE.test(text);
  if (items.length === 0 && !private_use) return undefined;
  return {
    items,
    is_relative,
    private_use,
    exceptions: new Set(
      tokenize(exceptions)
        .filter(carriesMeaning)
        .map((token) => token.stem),
    ),
  };
}

/** The index where a prohibition begins in a clause; -1 if there is none. `strict`: only unambiguous forms count. */
function opensAt(tokens: readonly Token[], strict: boolean): number {
  return tokens.findIndex((token, i) => {
    const next = tokens[i + 1]?.word ?? '';
    if (MEASURES.has(next)) return false;
    // "Pas de tabac" forbids; "PAs" are people.
    if (token.word === 'pas' && !/^(?:de|d|du|des)$/.test(next)) return false;
    if (PROHIBITS.has(token.word))
      return (
        !strict ||
        token.word === 'no' ||
        token.word === 'never' ||
        token.word === 'kein' ||
        token.word === 'allergic' ||
        token.word === 'intolerant'
      );
    if (!NOT.has(token.word)) return false;
    return strict ? next === 'for' || next === 'including' || i === 0 : true;
  });
}

/**
 * True for "never X before Y", which `readRequirement` reads as a condition. "No sweets, even if asked for" and "when
 * ordering here, no pork" are outright prohibitions.
 */
function isConditional(folded: string): boolean {
  const outright = folded.replace(/\beven (?:if|when)\b.*$/, '');
  if (CONDITIONAL_PROHIBITION.test(outright)) return true;
  return (
    /^\s*(?:if|when|unless|before|until)\b/.test(outright) && !/,\s*(?:no|never|nothing|not)\b/.test(outright)
  );
}

function listEnd(tokens: readonly Token[], from: number): number {
  const end = tokens.findIndex((token, i) => i > from && ENDS_LIST.has(token.word));
  return end < 0 ? tokens.length : end;
}

const joined = (tokens: readonly Token[]): string => tokens.map((token) => token.raw).join(' ');

/**
 * The prohibition of a whole sentence in German, Spanish or French: "Auf X verzichten", "Queda prohibido X", "Hors de
 * question d'acheter X". Undefined for one that does not, or that forbids only at times.
 */
function forbiddenInOtherLanguages(sentence: string): string | undefined {
  const plain = foldText(sentence).trim();
  const lead = EXCEPTS.exec(plain);
  // "Excepto leche, no se compran lácteos": the exception is read from the whole sentence.
  const folded = lead?.index === 0 ? plain.replace(/^[^,]*, /, '') : plain;
  const match = FORBIDDEN_BEHIND.exec(folded) ?? FORBIDDEN_BEFORE.exec(folded);
  const what = match?.slice(1).find((group) => group !== undefined);
  if (what === undefined || HOLDS_AT_TIMES.test(what)) return undefined;
  const exception = EXCEPTS.exec(what);
  const named = exception === null ? what : what.slice(0, exception.index);
  // Folding mostly keeps the length, and then the operator's own spelling, whose capitals tell companies.
  const written = sentence.trim();
  const at = written.length === plain.length ? plain.indexOf(named) : -1;
  return at < 0 ? named : written.slice(at, at + named.length);
}

/**
 * Reads one sentence of a purpose clause by clause. Prohibitions are "no X, Y or Z", "nothing for X", "X, not Y", "X is
 * bought elsewhere", "X is not allowed", "never X except Y"; the rest of the sentence counts as wanted.
 */
export function readProhibitions(
  sentence: string,
  kind: 'objective' | 'criterion' | 'constraint' | 'context',
): SentenceReading {
  const folded = foldText(sentence);
  const exception = EXCEPTS.exec(folded);
  const exceptions = exception === null ? '' : folded.slice(exception.index + exception[0].length);
  const forbidden: Forbidden[] = [];
  const wanted: string[] = [];
  const add = (text: string, is_relative = false) => {
    const one = forbiddenBy(text, exceptions, is_relative);
    if (one !== undefined) forbidden.push(one);
  };

  const japanese = FORBIDS_IN_JAPANESE.exec(sentence);
  if (japanese !== null && kind !== 'criterion') {
    const what = japanese[1] ?? '';
    if (!HOLDS_AT_TIMES_IN_JAPANESE.test(what))
      for (const item of what.split(/[、・]|や|と|及び|および|又は|または/u)) add(item);
    return { forbidden, wanted: '' };
  }
  if (kind === 'criterion') return { forbidden, wanted: sentence };
  if (kind === 'constraint' && isConditional(folded)) return { forbidden, wanted: '' };
  const named = kind === 'objective' ? undefined : forbiddenInOtherLanguages(sentence);
  if (named !== undefined) {
    add(named);
    return { forbidden, wanted: '' };
  }
  const ruled_out = /\bwithout\b/.test(folded) ? null : RULED_OUT.exec(folded);
  const is_ruled_out = ruled_out !== null;
  const away =
    ruled_out ?? (kind === 'objective' || /\bwithout\b/.test(folded) ? null : ELSEWHERE.exec(folded));
  // "Refunds go to the card they came from" says where money goes, not that somebody else buys it.
  if (away !== null && / to\b/.test(away[0]) && MONEY_ITSELF.test(folded.slice(0, away.index)))
    return { forbidden, wanted: '' };
  // In the context, "the garden is kept by Okabe" names a payee and forbids nothing.
  const namesDoer =
    kind === 'context' &&
    away !== null &&
    /^\s*(?:the |our )?\p{Lu}/u.test(sentence.slice(away.index + away[0].length));
  if (namesDoer) return { forbidden, wanted: sentence };
  const opens = /^\s*(?:no|never|nothing)\b/.test(folded);
  if (away !== null && !opens && tokenize(folded.slice(0, away.index)).some(carriesMeaning)) {
    const clauses = sentence.slice(0, away.index).split(/,(?=[^,]*\b(?:and|or)\b)|:/);
    add(
      clauses.length > 1 && /\b(?:and|or)\b/.test(clauses.at(-1) ?? '')
        ? clauses.join(',')
        : (clauses.at(-1) ?? ''),
      is_ruled_out && RELATIVE.test(folded.slice(away.index + away[0].length)),
    );
    return { forbidden, wanted: '' };
  }

  const free_of = kind === 'constraint' ? FREE_OF.exec(folded)?.[1] : undefined;
  if (free_of !== undefined) add(free_of);
  let listing = false;
  for (const clause of sentence.split(/,|\s[–—-]\s|:|\bbut\b/)) {
    const tokens = tokenize(clause);
    const opening = opensAt(tokens, kind !== 'constraint');
    if (opening >= 0) {
      const first = tokens[opening + 1]?.word === 't' ? opening + 2 : opening + 1;
      const end = listEnd(tokens, first);
      const before = tokens.slice(0, opening);
      const after = tokens.slice(first, end);
      if (after.some(carriesMeaning)) {
        add(joined(after));
        wanted.push(joined(before));
      } else if (NOT.has(tokens[opening]?.word ?? '')) add(joined(before));
      listing = end === tokens.length;
    } else if (listing && tokens.length <= 5 && !tokens.some((token) => ENDS_LIST.has(token.word))) {
      add(clause);
    } else {
      listing = false;
      wanted.push(clause);
    }
  }
  return { forbidden, wanted: wanted.join(', ') };
}
