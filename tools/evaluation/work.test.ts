import { assessBuiltIn, bindingOf, boundPayees, merchantKey, type SpendRequest } from '@purser/server/tools';
import { describe, expect, it } from 'vitest';
import {
  CAREFUL,
  COSTLY_PURPOSES,
  COSTLY_TEXTS,
  costlyAuthority,
  costlyRequest,
  shownReading,
} from './times.ts';
import { type Work, workOf } from './work.ts';

/** Hardly more than the dearest text known, U+FDFA between points, which takes about 5 ms. */
const MOST_OF_A_REQUEST: Work = { characters: 1_090_000, look_ups: 46_000 };
/** A tenth more than the dearest readings known with their examples and the index of all allowed merchants. */
const MOST_OF_A_READING: Work = { characters: 9_950_000, look_ups: 690_000 };

/** A tenth more than the dearest name known, U+FDFA throughout. */
const MOST_OF_A_KEY: Work = { characters: 690_000, look_ups: 33_000 };
const MOST_OF_A_BINDING: Work = { characters: 660_000, look_ups: 49_000 };

/** What a text took beyond what it may; empty where it took no more. */
const beyond = (name: string, work: Work, most: Work): string[] =>
  work.characters > most.characters || work.look_ups > most.look_ups
    ? [`${name}: ${work.characters} characters, ${work.look_ups} look-ups`]
    : [];

/** Seeds that no other test uses, so that no cache knows the words. */
const SEED = 991;
const workOfRequest = (request: SpendRequest) => workOf(() => assessBuiltIn(CAREFUL, request));

describe('the work of a request of 64 KiB is bounded', () => {
  it.each(Object.entries(COSTLY_TEXTS))('%s', (name, at) => {
    expect(beyond(name, workOfRequest(costlyRequest(at, SEED)), MOST_OF_A_REQUEST)).toEqual([]);
  });

  /** Of all code points one in so many, and those that decompose into most; 1 takes all of them, which takes hours. */
  const one_in = Number(process.env.PURPOSE_CODE_POINTS);
  const rare = (i: number) => ((i * 104_729 + 7_919) % 46_656).toString(36);
  const beside: Record<string, (sign: string) => (i: number) => string> = {
    alone: (sign) => () => sign,
    'beside rare words': (sign) => (i) => `${sign}${rare(i)} `,
    'between points': (sign) => (i) => `${sign}.${rare(i)[0]}.`,
    'before commas': (sign) => (i) => `${sign},${rare(i)},`,
    'beside joiners': (sign) => (i) => `${sign}\u200d${rare(i)} `,
    'beside digits': (sign) => (i) => `${sign}${i % 10} `,
    'after a script without blanks': (sign) => () => `酒${sign}`,
  };
  it.each(Object.entries(beside))('any code point %s', (name, textOf) => {
    const found: string[] = [];
    for (let code = 0x21; code < 0x110000; code += 1) {
      if (code % one_in !== 0 && code !== 0xfdfa && code !== 0xfdfb && code !== 0x3300) continue;
      const sign = String.fromCodePoint(code);
      if (!/^[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Z}\p{Cf}]$/u.test(sign)) continue;
      const work = workOfRequest(costlyRequest(textOf(sign), SEED + code));
      found.push(...beyond(`U+${code.toString(16)} ${name}`, work, MOST_OF_A_REQUEST));
    }
    expect(found).toEqual([]);
  });

  it('is counted: what it takes grows with the text', () => {
    const action = { type: 'purchase', merchant: 'Hoppe', amount_minor: 100, currency: 'EUR' };
    const one = workOfRequest({ action: { ...action, description: 'one server' } });
    const all = workOfRequest(costlyRequest((i) => `${rare(i)} `, SEED + 1));
    expect(one.characters).toBeGreaterThan(0);
    expect(all.characters).toBeGreaterThan(20 * one.characters);
    expect(all.look_ups).toBeGreaterThan(1_000);
  });
});

describe('the work of comparing a merchant of 200 characters is bounded', () => {
  const filled = (part: string) => part.repeat(200).slice(0, 200);
  const hostile: Record<string, (i: number) => string> = {
    'commas and numbers': (i) => filled(`a${i},9${i}123 #`),
    gaps: (i) => filled(`a${i}  `),
    'legal forms': (i) => filled(`Gm${i} GmbH SIA, ООО `),
    'one word of Japanese forms': (i) => `${filled('株式会社').slice(0, 190)}${i}`,
    'what decomposes': (i) => `${'\ufdfa'.repeat(190)}${i}`,
    'what decomposes before commas': (i) => `${filled('\ufdfa,').slice(0, 190)}${i}`,
    'look-alikes': (i) => filled(`аοеⅼ${i} `),
    disguises: (i) => filled(`Ev1l$b@d¡${i} `),
    overrides: (i) => filled(`\u202e${i}ab\u202c`),
    'escapes of escapes': (i) => filled(`%2525%34${i}`),
    'labels of a host': (i) => filled(`a${i}.b.`),
    'a script without blanks': (i) => filled(`酒${i}。`),
    processors: (i) => `${filled('SQ *PAYPAL *').slice(0, 190)}${i}`,
    'asterisks and apostrophes': (i) => filled(`*'${i}`),
  };
  const listed = (count: number) =>
    boundPayees(
      Array.from({ length: count }, (_, i) => ({ merchant: `Seller ${i} No`, payee_id: `x:${i}` })),
    );

  it.each(Object.entries(hostile))('%s', (name, at) => {
    const lists = [listed(100)];
    bindingOf('Warm up', lists);
    const key = workOf(() => merchantKey(at(1)));
    const binding = workOf(() => bindingOf(at(2), lists));
    expect(beyond(`${name}, key`, key, MOST_OF_A_KEY)).toEqual([]);
    expect(beyond(`${name}, binding`, binding, MOST_OF_A_BINDING)).toEqual([]);
  });

  it('does not grow with the list', () => {
    const [few, many] = [10, 1_000].map((count) => {
      const lists = [listed(count)];
      bindingOf('Warm up', lists);
      return workOf(() => bindingOf(`Acme ${count}, Berlin 4711`, lists));
    }) as [Work, Work];
    expect(few.characters).toBeGreaterThan(0);
    expect(many.look_ups).toBeLessThan(2 * few.look_ups);
    expect(many.characters).toBeLessThan(2 * few.characters);
  });
});

describe('the work of reading an authority as long as one may be, and of showing it, is bounded', () => {
  it.each(Object.entries(COSTLY_PURPOSES))('%s', (name, at) => {
    const authority = costlyAuthority(at, SEED);
    expect(
      beyond(
        name,
        workOf(() => shownReading(authority)),
        MOST_OF_A_READING,
      ),
    ).toEqual([]);
  });
});
