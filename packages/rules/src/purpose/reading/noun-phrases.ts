import { CONJUNCTIONS, GENITIVES, LINKS, NOT_ENGLISH, PREPOSITIONS } from '../data/constraint-language.ts';
import { ACQUIRING, carriesMeaning, LOOSE_STEMS, OTHER_HEADS } from '../language/everyday-words.ts';
import { type TradeMatch, tradesOfWord } from '../language/lexicon.ts';
import { gapsIn, type Token } from '../language/text.ts';

/** Nothing, blanks, an apostrophe or a hyphen: what parts the words of one phrase. */
const WITHIN = /^(?:[^\S\n]*|['’][^\S\n]?|[-‐‑][^\S\n]?)$/;
const HYPHEN = /^[-‐‑]/;
/** A longer run of words is no phrase, and time must be bounded. */
const MAX_MODIFIERS = 6;
const JAPANESE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
/** Behind a noun, these words say how it is or what becomes of it: "shipped", "properly". */
const NO_HEAD = /.{3}(?:ed|ly)$/;
const BEFORE_VERB: ReadonlySet<string> = new Set(['to', 'please']);
const BEHIND_VERB: ReadonlySet<string> = new Set(['a', 'an', 'the', 'our', 'my', 'your', 'their', 'all']);

const GRAMMAR = [GENITIVES, LINKS, CONJUNCTIONS, PREPOSITIONS, NOT_ENGLISH];
const isGrammar = (token: Token): boolean =>
  !carriesMeaning(token) || GRAMMAR.some((words) => words.has(token.word));

/** True for a word that can change what goods the nouns beside it mean. */
const isTelling = (token: Token): boolean =>
  !isGrammar(token) && !ACQUIRING.has(token.stem) && !/\d/.test(token.word);

const isTellingNoun = (token: Token): boolean => isTelling(token) && !LOOSE_STEMS.has(token.stem);

const startsUpper = (token: Token): boolean => /^\p{Lu}/u.test(token.raw);

/** One sentence, in which the words of a noun phrase are found by the blanks and hyphens between them. */
class NounPhrases {
  private readonly tokens: readonly Token[];
  private readonly gaps: readonly string[];
  private readonly is_foreign: boolean;

  constructor(text: string, tokens: readonly Token[], is_foreign: boolean) {
    this.tokens = tokens;
    this.gaps = gapsIn(text, tokens);
    this.is_foreign = is_foreign;
  }

  /** The token at a place, if it is in one phrase with the one before it. */
  private behind(at: number): Token | undefined {
    return at > 0 && WITHIN.test(this.gaps[at] ?? '.') ? this.tokens[at] : undefined;
  }

  /** The token before a place, if they are in one phrase. */
  private before(at: number): Token | undefined {
    return this.behind(at) && this.tokens[at - 1];
  }

  /** "Shoe budget", "Wein-Etikett", "ワイン市場": the word behind is the head of the phrase. */
  isBeforeHead({ at, length, strong }: TradeMatch): boolean {
    const end = at + length;
    const next = this.behind(end);
    if (next === undefined) return false;
    const last = this.tokens[end - 1] as Token;
    if (JAPANESE.test(last.raw)) {
      const head = next.raw === 'の' ? this.behind(end + 1) : next;
      return head !== undefined && isTelling(head);
    }
    // The head of "Wein- und Bieretiketten" comes later.
    if (HYPHEN.test(this.gaps[end] ?? '')) return !ACQUIRING.has(next.stem);
    // In the other languages an adjective or a verb follows, which only a word of several meanings needs to be without.
    if (this.is_foreign) return !strong && isTellingNoun(next);
    if (OTHER_HEADS.has(next.stem)) return true;
    const is_name = startsUpper(next) && !startsUpper(last);
    const is_adverb = NO_HEAD.test(next.word) && tradesOfWord(next).size === 0;
    return isTelling(next) && !is_name && !is_adverb;
  }

  /** "History of wine", "historia del vino": another noun is the head of the phrase. */
  isComplement(first: number): boolean {
    const article = this.before(first);
    const at =
      article !== undefined && !GENITIVES.has(article.word) && isGrammar(article) ? first - 1 : first;
    const link = this.before(at);
    const head = this.before(at - 1);
    return link !== undefined && GENITIVES.has(link.word) && head !== undefined && isTellingNoun(head);
  }

  private opensClause(at: number): boolean {
    return at === 0 || BEFORE_VERB.has(this.tokens[at - 1]?.word ?? '');
  }

  /** "Rent a van". */
  isVerb({ at, length }: TradeMatch): boolean {
    return length === 1 && this.opensClause(at) && BEHIND_VERB.has(this.behind(at + 1)?.word ?? '');
  }

  /** The words before a match that belong to its phrase. A verb at the beginning of a clause does not. */
  modifiersOf({ at, strong }: TradeMatch): { modifiers: readonly Token[]; first: number } {
    let first = at;
    while (at - first < MAX_MODIFIERS) {
      const one = this.before(first);
      if (one === undefined || !isTelling(one)) break;
      first -= 1;
    }
    const [opening, ...others] = this.tokens.slice(first, at);
    const is_verb =
      opening !== undefined && this.opensClause(first) && (strong || tradesOfWord(opening).size === 0);
    return { modifiers: opening === undefined || is_verb ? others : [opening, ...others], first };
  }

  /** "Papers of incorporation". */
  hasComplement({ at, length }: TradeMatch): boolean {
    const link = this.behind(at + length);
    const other = this.behind(at + length + 1);
    return link !== undefined && GENITIVES.has(link.word) && other !== undefined && isTellingNoun(other);
  }
}

/**
 * Reads the noun phrases of a sentence. The function returned tells of words of a trade whether a whole noun phrase has the
 * trade, or its head does: "leather shoes" has it, "shoe budget", "history of shoes" and "shoe-shine" do not. A word with
 * other everyday meanings must be the whole phrase. Each call takes time linear in the length of the phrase.
 */
export function readNounPhrases(
  text: string,
  tokens: readonly Token[],
  is_foreign: boolean,
): (match: TradeMatch) => boolean {
  const phrases = new NounPhrases(text, tokens, is_foreign);
  return (match) => {
    if (phrases.isVerb(match) || phrases.isBeforeHead(match)) return false;
    const { modifiers, first } = phrases.modifiersOf(match);
    if (phrases.isComplement(first)) return false;
    // A phrase of several words has its meaning by itself.
    if (match.length > 1) return true;
    const telling = modifiers.filter((token) => !LOOSE_STEMS.has(token.stem));
    if (!match.strong && phrases.hasComplement(match)) return false;
    // "Bank holiday": a noun of another trade makes it other goods. "Research papers": so does any word, of a loose one.
    return telling.every((token) => {
      const trades = tradesOfWord(token);
      return trades.has(match.trade) || (match.strong && (is_foreign || trades.size === 0));
    });
  };
}
