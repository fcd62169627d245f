/**
 * Letters that look like Latin ones: the Latin spelling, and the code points (hexadecimal) of the look-alikes.
 *
 * Source: Unicode Technical Standard #39, confusables.txt of 2025-07-22 (Unicode 17; © Unicode, Inc., Unicode License
 * v3): the single letters of the Latin, Greek, Cyrillic, Armenian, Cherokee, Coptic, Canadian, Lisu and some historic
 * scripts whose prototype is one or two ASCII letters and which compatibility decomposition does not map to them. Small
 * capitals, which confusables.txt does not have, are added by their names. Two groups are left out: letters of a living
 * alphabet that would become another letter of the same alphabet (Cyrillic U+0411, U+042B and U+040B, some of Armenian
 * and Cherokee), and those that would make honest Latin names equal: m for "rn", 0 for "o", 1 and I for "l"
 * (`readDisguised` judges these by their neighbours).
 */
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  a: '0251 0391 03B1 0410 0430 13AA 15C5 1D00 A4EE 102A0 16F40',
  aa: 'A732 A733',
  ae: '00C6 00E6 04D4 04D5',
  ao: 'A734 A735',
  au: 'A736 A737',
  av: 'A738 A739 A73A A73B',
  ay: 'A73C A73D',
  b:
    '0180 0181 0182 0183 0184 0253 0299 0392 0412 042C 0462 0463 048C 048D 13CF 13F4 1472 1473 15AF ' +
    '15F7 2C82 A4D0 A7B4 10282 102A1 10301',
  c:
    '0187 023C 0421 0441 04AA 04AB 13DF 1D04 2CA4 2CA5 A4DA ABAF 102A2 10302 10415 1043D 1051C 118E9 ' +
    '118F2',
  d: '00D0 0110 0111 0189 018A 018C 0256 0257 0501 13A0 146F 15DE 15EA 1D05 A4D2 A4D3',
  dz: '02A3',
  e: '0246 0247 0395 0415 0435 04BD 04BF 13AC 1D07 A4F0 AB32 10286 118A6 118AE',
  f: '0191 0192 03DC 0584 15B4 1D6E 1E9D A4DD A798 A799 AB35 10287 102A5 10525 118A2 118C2',
  fn: '02A9',
  g: '018D 0193 01E4 01E5 0260 0261 0262 050C 0581 13C0 13F3 1D83 A4D6',
  h: '0126 0127 0266 029C 0397 041D 04A2 04BB 04C7 04C9 0570 13BB 13C2 157C 2C67 2C8E A4E7 A695 102CF',
  i: '0131 0197 0268 0269 026A 03B9 0456 0582 13A5 1D7B 1D7C 2C93 A647 118C3',
  j: '0248 0249 037F 03F3 0408 0458 13AB 148D 1D0A A4D9 A7B2',
  k: '0198 0199 039A 041A 049A 049E 13E6 16D5 1D0B 2C69 2C94 A4D7 A740 10518',
  l: '0141 0142 019A 026B 026D 029F 13DE 14AA 2CD0 A4E1 1041B 10526 118A3 118B2 16F16',
  ls: '02AA',
  lz: '02AB',
  m: '039C 03FA 041C 04CD 13B7 15F0 16D6 1D0D 2C98 A4DF 102B0 10311',
  n: '014B 019D 019E 0273 0274 039D 03B7 0578 1D70 2C9A A4E0 10513',
  o:
    '00D8 00F8 019F 0275 0398 039F 03B8 03BF 03C3 03ED 041E 043E 0472 0473 04E8 04E9 0555 0585 1D0F ' +
    '1D11 2C90 2C91 2C9E 2C9F A4F3 A74A A74B AB3D AB3E 10292 102AB 10404 1042C 104C2 104EA 10516 ' +
    '118B5 118C8 118D7 118E0',
  oe: '0152 0153',
  oo: 'A698 A699 A74E A74F',
  p: '00FE 01A4 01A5 01BF 03A1 03C1 03F8 0420 0440 13E2 146D 1D18 1D7D 2CA2 2CA3 2CCE 2CCF A4D1 10295',
  q: '02A0 051B 0563',
  r: '01A6 024D 027C 027D 0280 0433 0491 0493 13A1 13D2 1587 1D26 1D72 2C85 A4E3 AB47 AB48 104B4 16F35',
  rn: '118E3',
  s: '01BD 0282 0405 0455 054F 13D5 1D74 A4E2 A731 ABAA 10296 10420 10448 118C1 16F3A',
  t:
    '0166 0167 01AC 01AD 01AE 023E 03A4 0422 04AC 13A2 1D1B 1D75 2CA6 A4D4 10297 102B1 10315 118BC ' +
    '16F0A',
  tf: 'A777',
  ts: '02A6',
  u: '0244 03C5 045F 054D 057D 144C 1D1C 1D7E A4F4 A79F AB4E AB52 AB9C 104CE 104F6 118B8 118D8 16F42',
  ue: '1D6B',
  uo: 'AB63',
  v: '03BD 0474 0475 13D9 142F 1D20 A4E6 ABA9 1051D 118A0 118C0 16F08',
  w: '026F 0448 0461 047D 051C 051D 0561 13B3 13D4 1D21 2CBD A4EA A761 AB83 118E6 118EF',
  x: '03A7 0425 0445 04B2 1541 157D 166E 16B7 2CAC A4EB A7B3 10290 102B4 10317 10322 10527 118EC',
  y:
    '01B3 01B4 024E 024F 0263 028F 03A5 03B3 0423 0443 04AE 04AF 04B0 04B1 13A9 13BD 1D8C 1EFF 2CA8 ' +
    '2CA9 A4EC AB5A 102B2 118A4 118DC 16F43',
  z: '01B5 01B6 0224 0225 0290 0396 13C3 1D22 1D76 A4DC AB93 118A9 118C4 118E5',
};

/**
 * Letters that look like a Latin letter beside other Latin letters, and not alone: those which confusables.txt joins with a
 * turned or open Latin letter (Ɛ, Ʌ), and two Cyrillic ones that mirror a Latin one. Each belongs to a living alphabet, so it
 * is read as Latin only in a word that has Latin letters too.
 */
const LIKE_AMONG_LATIN: Readonly<Record<string, string>> = {
  a: '0245 028C 039B 041B 1431 1D27 A4E5 104B0',
  e:
    '018E 0190 01DD 0259 025B 03B5 0404 0454 04D9 0510 0511 13CB 2C88 2C89 A4F1 A792 A793 AB9B 10401 10429 ' +
    '118CE',
  n: '0376 0418',
  r: '042F',
};

/** The first of the letters that two of make a flag. */
const FIRST_REGIONAL_INDICATOR = 0x1f1e6;

/** Letters that are one upright stroke, which may be meant as a capital I or a small l. */
const STROKES = '0196 01C0 0399 0406 04C0 04CF 16C1 2C92 A4F2 1028A 10309 10320 16F28';

/** Stands for a letter of `STROKES`, which may be i or l. It is a letter itself, so that it does not separate words. */
export const STROKE = '\u01c0';

/** The first of the negative circled and the negative squared capitals, which have no decomposition. */
const ALPHABETS = [0x1f150, 0x1f170];

const LATIN: ReadonlyMap<string, string> = makeTable();

function makeTable(): Map<string, string> {
  const table = new Map<string, string>();
  for (const letter of lettersOf(STROKES)) table.set(letter, STROKE);
  for (const [latin, letters] of Object.entries(LOOK_ALIKES)) {
    for (const letter of lettersOf(letters)) table.set(letter, latin);
  }
  for (const first of ALPHABETS) {
    for (let i = 0; i < 26; i++) table.set(String.fromCodePoint(first + i), String.fromCharCode(0x61 + i));
  }
  // A small letter without an entry of its own gets its capital's, so that a name is read alike in both cases.
  for (const [letter, latin] of [...table]) {
    const small = letter.toLowerCase();
    if (!table.has(small)) table.set(small, latin);
  }
  return table;
}

const AMONG_LATIN: ReadonlyMap<string, string> = makeTableAmongLatin();

function makeTableAmongLatin(): Map<string, string> {
  const table = new Map<string, string>();
  for (const [latin, letters] of Object.entries(LIKE_AMONG_LATIN)) {
    for (const letter of lettersOf(letters)) {
      table.set(letter, latin);
      table.set(letter.toLowerCase(), latin);
    }
  }
  return table;
}

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
const REGIONAL_INDICATOR = /[\u{1f1e6}-\u{1f1ff}]/gu;

/** Replaces letters of flags, and letters that look like Latin ones in words that have Latin letters too. */
export function foldAmongLatin(text: string): string {
  return text
    .replace(REGIONAL_INDICATOR, (letter) =>
      String.fromCharCode(0x61 + (letter.codePointAt(0) as number) - FIRST_REGIONAL_INDICATOR),
    )
    .replace(WORD, (word) =>
      /[A-Za-z]/.test(word) ? [...word].map((letter) => AMONG_LATIN.get(letter) ?? letter).join('') : word,
    );
}

function lettersOf(code_points: string): string[] {
  return code_points.split(' ').map((hex) => String.fromCodePoint(Number.parseInt(hex, 16)));
}

/** Replaces look-alikes by the Latin letters (in lower case), and upright strokes by `STROKE`. */
export function foldLookAlikes(text: string): string {
  let folded = '';
  for (const character of text)
    folded += character < '\u0080' ? character : (LATIN.get(character) ?? character);
  return folded;
}
