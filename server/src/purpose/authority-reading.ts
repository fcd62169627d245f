import type { Authority } from '../domain/authorities.ts';
import { attributesIn } from './attributes.ts';
import type {
  AttributeRule,
  AuthorityReading,
  NamedEntry,
  Prohibition,
  Quote,
  Requirement,
} from './authority-terms.ts';
import { readProhibitions } from './constraint-clauses.ts';
import {
  ABOUT_SUM,
  BROAD,
  EXACTLY,
  EXCEPTS,
  HOME,
  LEADING_SUBJECT,
  OBJECTIVE_REQUIREMENT,
  ON_REQUEST,
  ONLY_NAMED,
  REQUIREMENT,
  SAID_BY_TASK,
  TOLERANCE,
} from './data/constraint-language.ts';
import { ceilingIn, plainAccount } from './figures.ts';
import {
  COMMON_STEMS,
  carriesMeaning,
  companiesInText,
  LOOSE_STEMS,
  type Trade,
  tradeWords,
} from './lexicon.ts';
import { foldText, isTooLong, MAX_TEXT_LENGTH, type Token, tokenize } from './text.ts';

const LISTS_PAYEES =
  /\b(?:payees?|contacts?|suppliers?|providers?|vendors?|merchants?|sellers?|wholesalers?|shops?|agencies|workshops?|on file|on account)\b/;

const FORBIDS = /^\s*(?:no|never|nothing|not)\b/i;

interface Part {
  field: string;
  text: string;
  kind: 'objective' | 'criterion' | 'constraint' | 'context';
}

export const SHINGLE_LENGTH = 5;
/** More than an authority can have. */
const MAX_PARTS = 110;
/** Forbidden things that are read: each is looked for in every spend. */
const MAX_FORBIDDEN = 1_000;
const SENTENCES = /[.;!?](?=\s|$)|\n/;
/** IBANs, numbers in groups, customer numbers, handles. */
const ACCOUNT =
  /\b[A-Z]{2}\d{2}[A-Z0-9]{8,30}\b|\b[A-Z]{1,4}-\d{3,}\b|\b\d{2,6}(?:-\d{2,8}){1,4}\b|@[\w.-]{2,40}|\b\d{7,20}\b/g;
/** Numbers that things carry: order, part and equipment numbers. */
export const OWN_NUMBER = /\b([A-Z]{1,6})-\d{2,6}\b/g;
const DOMAIN = /\b(?:[a-z0-9-]{1,63}\.){1,4}[a-z]{2,24}\b/g;

function partsOf(authority: Authority): Part[] {
  const { objective, success_criteria = [], constraints = [], context = '' } = authority.purpose;
  return [
    { field: 'purpose.objective', text: objective, kind: 'objective' as const },
    ...success_criteria.map((text, i) => ({
      field: `purpose.success_criteria[${i}]`,
      text,
      kind: 'criterion' as const,
    })),
    ...constraints.map((text, i) => ({
      field: `purpose.constraints[${i}]`,
      text,
      kind: 'constraint' as const,
    })),
    { field: 'purpose.context', text: context, kind: 'context' as const },
  ].filter((part) => part.text !== '');
}

function delegationIn({ purpose }: Authority): Quote | undefined {
  for (const [field, text] of [
    ['purpose.objective', purpose.objective],
    ['purpose.context', purpose.context ?? ''],
  ] as const) {
    const match = ON_REQUEST.exec(foldText(text));
    if (match !== null) return { field, text: match[0] };
  }
  return undefined;
}

/** The lines of a list: parts between semicolons that name a ceiling. */
function entriesIn(part: Part): NamedEntry[] {
  return part.text
    .slice(0, MAX_TEXT_LENGTH)
    .split(/;|\n|\.\s/)
    .flatMap((text) => {
      const folded = foldText(text);
      const ceiling = ceilingIn(folded)?.value;
      if (ceiling === undefined) return [];
      const tokens = tokenize(text).filter(carriesMeaning);
      const names = tokens.filter((token) => /^\p{Lu}/u.test(token.raw)).map((token) => token.word);
      return [
        {
          field: part.field,
          text: text.trim(),
          folded,
          stems: new Set(tokens.filter((token) => !/\d/.test(token.word)).map((token) => token.stem)),
          names: new Set(names),
          ceiling,
        },
      ];
    });
}

/** The part of the operator's text that has these folded words in this order, quoted by them. */
export function saidIn(authority: AuthorityReading, phrase: string): Quote | undefined {
  const part = authority.running.find(({ text }) => text.includes(` ${phrase} `));
  return part === undefined ? undefined : { field: part.field, text: phrase };
}

/** The host names in a text that is folded already. */
export function domainsIn(folded: string): string[] {
  return folded.includes('.')
    ? [...folded.matchAll(DOMAIN)].map((match) => match[0].replace(/^www\./, ''))
    : [];
}

/** The runs of `SHINGLE_LENGTH` words of a text. */
export function shinglesOf(tokens: readonly Token[]): string[] {
  const runs: string[] = [];
  for (let i = 0; i + SHINGLE_LENGTH <= tokens.length; i += 1) {
    runs.push(
      tokens
        .slice(i, i + SHINGLE_LENGTH)
        .map((token) => token.word)
        .join(' '),
    );
  }
  return runs;
}

function readRequirement(sentence: string, quote: Quote, language: RegExp): Requirement | undefined {
  const whole = foldText(sentence);
  const exception = EXCEPTS.exec(whole);
  const folded = exception === null ? whole : whole.slice(0, exception.index);
  const exempt = exception === null ? [] : tokenize(whole.slice(exception.index + exception[0].length));
  const match = language.exec(folded.replace(/\beven (?:if|when)\b/g, (words) => ' '.repeat(words.length)));
  if (match === null) return undefined;
  const before = tokenize(folded.slice(0, match.index)).filter(carriesMeaning);
  const after = tokenize(folded.slice(match.index)).filter(carriesMeaning);
  const lead = LEADING_SUBJECT.exec(folded);
  const subject = lead === null ? before : tokenize(lead[1] ?? '').filter(carriesMeaning);
  return {
    ...quote,
    subject: new Set(subject.map((token) => token.stem)),
    subject_trades: strongTrades(subject),
    stems: new Set([...after, ...(subject.length === 0 ? before : [])].map((token) => token.stem)),
    exceptions: new Set(exempt.filter(carriesMeaning).map((token) => token.stem)),
    exception_trades: new Set(tradeWords(exempt).map((mention) => mention.trade)),
    said_by_task: SAID_BY_TASK.test(folded) || ON_REQUEST.test(folded),
    about_sum: ABOUT_SUM.test(folded),
    about_presence: /\b(?:missing|lacks?|has|have|offers?|features?)\b/.test(folded),
  };
}

const strongTrades = (tokens: readonly Token[]): Set<Trade> =>
  new Set(
    tradeWords(tokens)
      .filter((mention) => mention.strong)
      .map((mention) => mention.trade),
  );

/**
 * Reads what the operator wrote: what is wanted, what is forbidden, what is demanded, who is named.
 * Linear in the length of the text (each part is cut at the text limit).
 */
export function readAuthority(authority: Authority): AuthorityReading {
  const trades = new Map<Trade, Quote & { strong: boolean }>();
  const words = new Map<string, Quote & { loose: boolean }>();
  const names = new Map<string, Quote>();
  const prohibitions: { -readonly [K in keyof Prohibition]: Prohibition[K] }[] = [];
  const requirements: Requirement[] = [];
  const attributes: AttributeRule[] = [];
  const tolerances: Quote[] = [];
  const accounts = new Map<string, readonly string[]>();
  const domains: string[] = [];
  const number_prefixes = new Map<string, Quote>();
  const shingles = new Set<string>();
  const entries: NamedEntry[] = [];
  const running: Quote[] = [];
  let exactly: Quote | undefined;
  let only_named: Quote | undefined;
  let lists_payees = false;
  let forbidden_count = 0;
  const wholePurpose = partsOf(authority);
  const parts = wholePurpose.slice(0, MAX_PARTS);

  for (const part of parts) {
    for (const sentence of part.text.slice(0, MAX_TEXT_LENGTH).split(SENTENCES)) {
      if (sentence.trim() === '') continue;
      const { forbidden, wanted } = readProhibitions(sentence, part.kind);
      for (const one of forbidden) {
        forbidden_count += one.items.length;
        if (forbidden_count > MAX_FORBIDDEN) break;
        prohibitions.push({ ...one, field: part.field, text: sentence.trim() });
      }
      const quote = { field: part.field, text: sentence.trim() };
      if (part.kind === 'constraint' || part.kind === 'objective') {
        const requirement =
          forbidden.length > 0 && part.kind === 'constraint'
            ? undefined
            : readRequirement(
                sentence,
                quote,
                part.kind === 'objective' ? OBJECTIVE_REQUIREMENT : REQUIREMENT,
              );
        if (requirement !== undefined) {
          requirements.push(requirement);
          // A trade that a condition speaks of is not foreign to the purpose, but not plainly wanted either.
          for (const trade of requirement.subject_trades) {
            if (!trades.has(trade)) trades.set(trade, { ...quote, strong: false });
          }
        }
        if (part.kind === 'constraint' && TOLERANCE.test(foldText(sentence))) tolerances.push(quote);
        if (requirement !== undefined && part.kind === 'constraint') continue;
      }
      if (forbidden.length > 0 || FORBIDS.test(sentence)) {
        for (const [scale, { values, count }] of attributesIn(tokenize(sentence))) {
          if (/\bonly\b/i.test(sentence)) continue;
          const allowed = new Set([...Array(count).keys()].filter((value) => !values.has(value)));
          attributes.push({ ...quote, scale, allowed });
        }
      }
      const tokens = tokenize(wanted);
      if (/\bonly\b/.test(foldText(sentence))) {
        for (const [scale, { values }] of attributesIn(tokens))
          attributes.push({ ...quote, scale, allowed: values });
      }
      const listsPayees = part.kind === 'context' && LISTS_PAYEES.test(foldText(sentence));
      if (listsPayees && tokens.some((token) => /^\p{Lu}/u.test(token.raw))) lists_payees = true;
      tokens.forEach((token, i) => {
        if (listsPayees && carriesMeaning(token) && !LOOSE_STEMS.has(token.stem) && !names.has(token.word)) {
          names.set(token.word, { field: part.field, text: token.raw });
        }
        if (i > 0 && /^\p{Lu}/u.test(token.raw) && token.word.length > 2 && !COMMON_STEMS.has(token.stem)) {
          if (!names.has(token.word)) names.set(token.word, { field: part.field, text: token.raw });
        }
        if (carriesMeaning(token) && !words.has(token.stem)) {
          words.set(token.stem, { field: part.field, text: token.raw, loose: LOOSE_STEMS.has(token.stem) });
        }
      });
      for (const mention of [...tradeWords(tokens), ...companiesInText(tokens)]) {
        const strong = mention.strong && part.kind !== 'criterion';
        // A loose word is not enough to want what purposes set apart.
        if (!strong && mention.trade.family === 'cash_like') continue;
        const known = trades.get(mention.trade);
        if (known === undefined || (strong && !known.strong)) {
          trades.set(mention.trade, { field: part.field, text: mention.text, strong });
        }
      }
    }
    for (const match of part.text.slice(0, MAX_TEXT_LENGTH).matchAll(ACCOUNT)) {
      const lead = tokenize(
        part.text
          .slice(Math.max(0, match.index - 60), match.index)
          .split(/[,;:]/)
          .at(-1) ?? '',
      );
      accounts.set(
        plainAccount(match[0]),
        lead.map((token) => token.word),
      );
    }
    const folded = foldText(part.text.slice(0, MAX_TEXT_LENGTH));
    for (const match of part.text.slice(0, MAX_TEXT_LENGTH).matchAll(OWN_NUMBER))
      number_prefixes.set(match[1] ?? '', { field: part.field, text: match[0] });
    domains.push(...domainsIn(folded));
    if (part.kind !== 'criterion')
      running.push({
        field: part.field,
        text: ` ${tokenize(part.text)
          .map((token) => token.word)
          .join(' ')} `,
      });
    if (part.kind === 'constraint' || part.kind === 'objective') {
      const quote = { field: part.field, text: part.text.slice(0, MAX_TEXT_LENGTH) };
      if (EXACTLY.test(folded)) exactly ??= quote;
      if (ONLY_NAMED.test(folded)) only_named ??= quote;
    }
    if (part.kind === 'context') entries.push(...entriesIn(part));
    for (const run of shinglesOf(tokenize(part.text))) shingles.add(run);
  }

  const wantedOutright = (stem: string) => words.get(stem)?.field === 'purpose.objective';
  for (const prohibition of prohibitions) {
    // "No licences for sponsors" where licences are wanted forbids what is for sponsors.
    const narrowed = prohibition.items.flatMap((item) => {
      const rest = item.stems.filter((stem) => !wantedOutright(stem));
      const says = rest.some((stem) => !LOOSE_STEMS.has(stem) && stem.length > 3);
      return rest.length > 0 && rest.length < item.stems.length && says
        ? [{ stems: rest, trades: new Set<Trade>(), companies: new Set<string>() }]
        : [];
    });
    prohibition.items = [...prohibition.items, ...narrowed];
  }
  const whole = foldText(`${authority.purpose.objective}\n${authority.purpose.context ?? ''}`);
  const strongFamilies = new Set(
    [...trades].filter(([, quote]) => quote.strong).map(([trade]) => trade.family),
  );
  return {
    trades,
    families: strongFamilies,
    words,
    names,
    imitable_names: [...names.keys()].filter((name) => name.length >= 5 && name.length <= 24),
    prohibitions,
    requirements,
    attributes,
    tolerances,
    broad: BROAD.test(whole) || (HOME.test(whole) && strongFamilies.size < 3),
    on_request: ON_REQUEST.test(whole),
    delegation: delegationIn(authority),
    accounts,
    number_prefixes,
    domains,
    entries,
    exactly,
    only_named,
    lists_payees,
    running,
    shingles,
    shingle_starts: new Set([...shingles].map((run) => run.slice(0, run.indexOf(' ')))),
    cut:
      wholePurpose.length > MAX_PARTS ||
      forbidden_count > MAX_FORBIDDEN ||
      parts.some((part) => isTooLong(part.text)),
  };
}
