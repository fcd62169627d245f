import { currencyExponent, isActiveCurrency } from './money.ts';

/** A sum of money in a text. */
export interface Amount {
  /** Where it begins and ends in the text, with its currency and its unit, in UTF-16 code units. */
  at: number;
  end: number;
  /** The number without groups, exact: "1500", "70.50". */
  value: string;
  /** The currencies that its sign may mean; empty where none is written. */
  currencies: readonly string[];
  /** The one thing that it pays for: "night", "month", "kg"; null for a sum in all. */
  per: string | null;
}

const DOLLARS = ['USD', 'CAD', 'AUD', 'NZD', 'SGD', 'HKD', 'MXN', 'ARS', 'CLP', 'COP', 'TWD'];
const CROWNS = ['SEK', 'NOK', 'DKK', 'ISK', 'CZK'];

/** The meanings of the signs and names of currencies, in lower case. */
const SIGNS: ReadonlyMap<string, readonly string[]> = new Map(
  (
    [
      [['EUR'], '€ euro euros ユーロ'],
      [DOLLARS, '$ dollar dollars dollari dólar dólares dolares ドル'],
      [['USD'], 'us$'],
      [['CAD'], 'c$ ca$'],
      [['AUD'], 'a$ au$'],
      [['NZD'], 'nz$'],
      [['HKD'], 'hk$'],
      [['SGD'], 's$'],
      [['MXN'], 'mx$'],
      [['BRL'], 'r$ reais'],
      [['GBP'], '£ pound pounds pfund libras ポンド'],
      [['JPY', 'CNY'], '¥'],
      [['JPY'], 'yen 円'],
      [['CNY'], 'yuan rmb 元'],
      [['KRW'], '₩ won 원'],
      [['INR', 'PKR', 'LKR', 'NPR'], '₹ rs rs. rupee rupees'],
      [['CHF'], 'fr fr. sfr sfr. franken'],
      [['CHF', 'XAF', 'XOF'], 'franc francs francos'],
      [CROWNS, 'kr kr. krone kroner kronen kronor'],
      [['CZK'], 'kč'],
      [['PLN'], 'zł zloty zlotys'],
      [['HUF'], 'ft forint'],
      [['TRY'], '₺ tl lira'],
      [['RUB'], '₽ руб руб.'],
      [['ILS'], '₪'],
      [['VND'], '₫'],
      [['UAH'], '₴'],
      [['NGN'], '₦'],
      [['THB'], '฿ baht'],
      [['PHP'], '₱'],
      [['MXN', 'ARS', 'CLP', 'COP', 'PHP', 'UYU'], 'peso pesos'],
      [['KWD', 'BHD', 'JOD', 'TND', 'IQD', 'LYD', 'DZD'], 'dinar dinars'],
    ] as const
  ).flatMap(([codes, signs]) => signs.split(' ').map((sign) => [sign, codes] as const)),
);

/** Codes that in lower case are ordinary words: "all 50", "try 20", "top 100". */
const ALSO_WORDS: ReadonlySet<string> = new Set(
  'ALL AMD ANG BAM BOB BIF CAD COP CUP DOP ERN FOR GEL HUF INR KES LAK LSL MAD MOP MUR PEN RON SAR SOS STD TOP TRY VES WST'
    .split(' ')
    .filter((code) => !['CAD', 'INR', 'HUF', 'RON'].includes(code)),
);

/** Powers of ten that words and letters behind a number multiply by. */
const SCALES: ReadonlyMap<string, number> = new Map(
  (
    [
      [3, 'k thousand thousands tausend tsd tsd. mil mille mila тыс 千'],
      [4, '万 萬 만'],
      [5, 'lakh lakhs'],
      [6, 'm mn mio mio. million millions millionen millón millones milhão milhões milioni'],
      [7, 'crore crores'],
      [8, '億 亿 억'],
    ] as const
  ).flatMap(([power, words]) => words.split(' ').map((word) => [word, power] as const)),
);

/** Units by their spellings in the languages that are read. */
const UNITS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    night: 'nights nacht nächte nächten naechte nuit noche notte noite natt nat 泊',
    day: 'days daily tag täglich jour jornada día dia giorno dag daglig 日',
    week: 'weeks weekly woche wöchentlich semaine semana settimana vecka uge 週',
    month: 'months monthly monat monatlich mois mes mês mese maand månad måned mensual mensuel 月',
    quarter: 'quarterly quartal trimestre kwartaal kvartal',
    year: 'years yearly annually jahr jährlich an année año ano anno jaar år 年',
    hour: 'hours hourly stunde stündlich heure hora ora uur timme time 時間',
    person: 'people head guest member kopf personne persona pessoa persoon 人',
    piece: 'unit item stück stuck pièce pieza unidad pezzo stuk st st. apiece each jeweils 個',
    order: 'purchase bestellung commande pedido ordine bestelling einkauf kauf achat compra',
    payment: 'transaction zahlung paiement pago pagamento betaling',
    booking: 'buchung réservation reserva prenotazione boeking',
    invoice: 'bill rechnung facture factura fattura factuur',
    kg: 'kilo kilos kilogram kilogramm kilogramme',
  }).flatMap(([unit, words]) => [unit, ...words.split(' ')].map((word) => [word, unit] as const)),
);

/** The unit that a word names in any of the languages that are read: "night" for "Nächte"; undefined for no unit. */
export const unitOf = (word: string): string | undefined =>
  UNITS.get(word.toLowerCase()) ?? UNITS.get(word.toLowerCase().replace(/s$/, ''));

const DIGIT = /[0-9]/;
const BLANKS = ' \u00a0\u2009\u202f';
const APOSTROPHES = "'’";
/** A unit behind a sum, with the word that joins them. */
const PER =
  /^[ \u00a0]?(?:(?:per|pro|par|por|je|cada|chaque|jede[rsn]?|à|an?|la|le|el|al|im|am|den|the)[ \u00a0]|\/[ \u00a0]?)(\p{L}+)/iu;
/** Behind these any word is a unit, behind the other articles only a known one. */
const TAKES_ANY = /^[ \u00a0]?(?:(?:per|pro|par|por|cada|chaque|jede[rsn]?|an?)[ \u00a0]|\/)/iu;
/** A second unit behind the first: "and night", "/Nacht", "e por noite". */
const AND_PER =
  /^(?:[ \u00a0](?:and|und|et|y|e|en|och)[ \u00a0](?:(?:per|pro|par|por)[ \u00a0])?|[ \u00a0](?:per|pro|par|por)[ \u00a0]|(\/))(\p{L}+)/iu;
/** Units that need nothing before them. */
const ALONE =
  /^[ \u00a0]?(each|apiece|daily|weekly|monthly|quarterly|yearly|annually|jeweils|täglich|wöchentlich|monatlich|jährlich|mensual|mensuel)(?!\p{L})/iu;
const WORD_BEHIND = /^[ \u00a0\u202f]?([\p{Script=Latin}\p{Script=Cyrillic}\p{Sc}]+|[\p{L}ー]+)/u;
const SIGN_BEFORE = /((?:\p{L}{0,3}[$€£¥₩₹₺₽₪₫₴₦฿₱])|[円元원]|\p{L}{2,7}\.?)[ \u00a0\u202f]?$/u;
/** "1'500.–", "70,-": no cents. */
const NO_CENTS = /^[.,][-–—]{1,2}(?!\p{N})/u;
/** Longest text before and behind a number that is looked at, in UTF-16 code units. */
const NEAR = 24;

interface Numeral {
  end: number;
  groups: readonly string[];
  /** The signs between the groups, blanks and apostrophes each as one kind. */
  signs: readonly string[];
}

function digitsFrom(text: string, at: number): string {
  let end = at;
  while (DIGIT.test(text[end] ?? '')) end += 1;
  return text.slice(at, end);
}

/** The digits from a place on, with all that may part them. */
function numeralAt(text: string, at: number): Numeral {
  const groups = [digitsFrom(text, at)];
  const signs: string[] = [];
  let end = at + (groups[0]?.length ?? 0);
  for (;;) {
    const sign = text[end] ?? '';
    const kind = sign !== '' && BLANKS.includes(sign) ? ' ' : APOSTROPHES.includes(sign) ? "'" : sign;
    if (kind === '' || !" '.,".includes(kind)) break;
    const next = digitsFrom(text, end + 1);
    const parts_groups = next.length === 3 && (groups[0]?.length ?? 0) <= 3;
    // A blank or an apostrophe parts groups alone: "room 12 500" and "1'500", never "70 8".
    const is_free = kind === '.' || kind === ',';
    if (next === '' || (!is_free && !(parts_groups && signs.every((one) => one === kind)))) break;
    groups.push(next);
    signs.push(kind);
    end += 1 + next.length;
  }
  return { end, groups, signs };
}

const isGrouped = (groups: readonly string[]): boolean =>
  /^\d{1,3}$/.test(groups[0] ?? '') &&
  groups.slice(1, -1).every((group) => group.length === 3 || group.length === 2) &&
  (groups.length === 1 || groups.at(-1)?.length === 3);

/** The number that groups of digits write; undefined for a date, a version or an address. `places`: of the currency. */
function numberOf({ groups, signs }: Numeral, places: number): string | undefined {
  const last = signs.at(-1);
  if (last === undefined) return groups[0];
  const before = signs.slice(0, -1);
  const joined = () => (isGrouped(groups) ? groups.join('') : undefined);
  if (last === ' ' || last === "'") return joined();
  if (before.length > 0) {
    if (before.every((sign) => sign === last)) return joined();
    const whole = groups.slice(0, -1);
    const is_number = !before.includes(last) && new Set(before).size === 1 && isGrouped(whole);
    return is_number ? `${whole.join('')}.${groups.at(-1)}` : undefined;
  }
  // Three digits behind a single sign are a group, unless the currency has as many places.
  const [whole = '', rest = ''] = groups;
  return rest.length === 3 && places !== 3 && isGrouped(groups) && whole !== '0'
    ? whole + rest
    : `${whole}.${rest}`;
}

/** The number with its point moved to the right. */
function shifted(value: string, power: number): string {
  const [whole = '', rest = ''] = value.split('.');
  const digits = `${whole}${rest.slice(0, power).padEnd(power, '0')}`.replace(/^0+(?=\d)/, '');
  return rest.length > power ? `${digits}.${rest.slice(power)}` : digits;
}

function currenciesOf(word: string): readonly string[] | undefined {
  const code = word.toUpperCase();
  if (isActiveCurrency(code) && (word === code || (word === word.toLowerCase() && !ALSO_WORDS.has(code))))
    return [code];
  return SIGNS.get(word.toLowerCase()) ?? SIGNS.get(word.toLowerCase().replace(/\.$/, ''));
}

/** The currency before a number, with the length of its text. "top 50" names none, "EUR 50" and "R$ 50" do. */
function currencyBefore(before: string): { currencies: readonly string[]; length: number } | undefined {
  const match = SIGN_BEFORE.exec(before);
  if (match === null) return undefined;
  const [whole, word = ''] = match;
  // A name behind a word is its part: "Contabo50" is none, and neither is "kilometres".
  if (/\p{L}$/u.test(before.slice(0, match.index)) && !/^\p{Sc}/u.test(word)) return undefined;
  const currencies = currenciesOf(word) ?? currenciesOf(word.replace(/^\p{L}+/u, ''));
  return currencies === undefined ? undefined : { currencies, length: whole.length };
}

/** The scale and the currency behind a number, and where they end. */
function behindNumber(text: string, from: number, has_currency: boolean) {
  const start = from + (NO_CENTS.exec(text.slice(from, from + NEAR))?.[0].length ?? 0);
  let end = start;
  const take = <T>(meaningOf: (word: string) => T | undefined): T | undefined => {
    const [whole = '', word = ''] = WORD_BEHIND.exec(text.slice(end, end + NEAR)) ?? [];
    for (const each of word === '' ? [] : [word, ...partsWithoutBlanks(word)]) {
      const meaning = meaningOf(each);
      if (meaning === undefined) continue;
      end += whole.length - word.length + each.length;
      return meaning;
    }
    return undefined;
  };
  const power = take((word) => SCALES.get(word.toLowerCase()));
  const is_letter = /^\P{L}?m$/iu.test(text.slice(start, end));
  const passDot = (what: RegExp) => {
    if (what.test(text.slice(end, end + 3))) end += 1;
  };
  if (power !== undefined) passDot(/^\.[ \u00a0]\p{L}/u);
  const currencies = has_currency ? undefined : take(currenciesOf);
  // "Fr. pro Nacht": an abbreviation, as a sentence would begin with a capital.
  if (currencies !== undefined) passDot(/^\.(?:[ \u00a0]\p{Ll}|\/)/u);
  // "2m" alone is a length.
  if (is_letter && !has_currency && currencies === undefined) return { end: start, power: 0, currencies };
  return { end, power: power ?? 0, currencies };
}

/** In a script without blanks a sign ends where the next begins: "万円まで". */
const partsWithoutBlanks = (word: string): string[] =>
  /[\p{Script=Han}\p{Script=Katakana}\p{Script=Hiragana}\p{Script=Hangul}]/u.test(word)
    ? Array.from({ length: Math.min(3, word.length) }, (_, i) => word.slice(0, 3 - i))
    : /^[km]\p{Sc}$/iu.test(word)
      ? [word.slice(0, 1)]
      : [];

function unitBehind(text: string, end: number): { per: string | null; end: number } {
  const behind = text.slice(end, end + NEAR);
  const alone = ALONE.exec(behind);
  if (alone !== null) return { per: unitOf(alone[1] ?? '') ?? null, end: end + alone[0].length };
  const [whole = '', word = ''] = PER.exec(behind) ?? [];
  const known = unitOf(word);
  if (known !== undefined) return { per: known, end: end + whole.length };
  if (!TAKES_ANY.test(behind)) return { per: null, end };
  // "75 € per room and night": the known unit counts.
  const [more = '', , other = ''] = AND_PER.exec(behind.slice(whole.length)) ?? [];
  const second = unitOf(other);
  return second === undefined
    ? { per: word.toLowerCase(), end: end + whole.length }
    : { per: second, end: end + whole.length + more.length };
}

/** True if nothing that a number counts follows: "over 400." but not "over 400 people". */
const standsAlone = (behind: string): boolean => /^\s*(?:$|[,;:!?)\n]|\.(?:\s|$))/.test(behind);

function amountAt(text: string, at: number): { amount: Amount | undefined; end: number } {
  const numeral = numeralAt(text, at);
  const none = { amount: undefined, end: numeral.end };
  const before = text.slice(Math.max(0, at - NEAR), at);
  const lead = currencyBefore(before);
  const { end, power, currencies: behind } = behindNumber(text, numeral.end, lead !== undefined);
  const currencies = lead?.currencies ?? behind ?? [];
  // A part of a code, a date or a longer number is no sum; "50-70 EUR" ends in one.
  const is_part = /[\p{L}\p{N}_#/:.]$|-$/u.test(before) && !(before.endsWith('-') && behind !== undefined);
  if (lead === undefined && is_part) return none;
  const places = currencies.length === 0 ? 2 : Math.max(...currencies.map(currencyExponent));
  const value = numberOf(numeral, places);
  if (
    value === undefined ||
    (lead === undefined && /^[-/]\p{N}/u.test(text.slice(end))) ||
    /^[\p{N}_%]/u.test(text.slice(end, end + 1))
  )
    return none;
  const unit = unitBehind(text, end);
  const digits = value.split('.', 1)[0]?.length ?? 0;
  const is_money =
    currencies.length > 0 ||
    unit.per !== null ||
    ((power > 0 || (digits >= 3 && !/\p{Lu} ?$/u.test(before))) && standsAlone(text.slice(end, end + NEAR)));
  if (!is_money || (currencies.length === 0 && power === 0 && /^\p{L}/u.test(text.slice(end)))) return none;
  return {
    amount: {
      at: at - (lead?.length ?? 0),
      end: unit.end,
      value: shifted(value, power),
      currencies,
      per: unit.per,
    },
    end: unit.end,
  };
}

/**
 * The sums of money in a text, in their order, each read by its digits once: groups by point, comma, apostrophe or blank, by
 * thousands or lakhs; a currency before or behind; thousands and millions as words; a unit behind. A number without a
 * currency is one only where it says what it pays for or where nothing that it counts follows it. Takes linear time.
 */
export function amountsIn(text: string): Amount[] {
  const found: Amount[] = [];
  for (let at = 0; at < text.length; ) {
    if (!DIGIT.test(text[at] ?? '')) {
      at += 1;
      continue;
    }
    const { amount, end } = amountAt(text, at);
    if (amount !== undefined) found.push(amount);
    at = Math.max(end, at + 1);
  }
  return found;
}

/**
 * A sum in minor units of a currency, cut to whole ones; null where it is in another currency. Exact up to the largest safe
 * integer, which stands for all that is more. Throws RangeError for a code that is no currency.
 */
export function minorOf({ value, currencies }: Amount, currency: string): number | null {
  if (currencies.length > 0 && !currencies.includes(currency)) return null;
  const places = currencyExponent(currency);
  const [whole = '', rest = ''] = value.split('.');
  const minor = Number(`${whole}${rest.slice(0, places).padEnd(places, '0')}`);
  return Math.min(minor, Number.MAX_SAFE_INTEGER);
}
