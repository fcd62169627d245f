import type { Authority } from '@purser/contract/authority';
import { describe, expect, it, test } from 'vitest';
import { assessBuiltIn } from '../built-in-assessor.ts';
import { showReading } from '../shown-reading.ts';
import { readAuthority } from './authority-reading.ts';

const under = (constraint: string, currency = 'EUR'): Authority => ({
  purpose: { objective: 'Supplies from Nordwerk', constraints: [constraint] },
  currency,
});
const read = (constraint: string, currency?: string) => readAuthority(under(constraint, currency));
const assess = (constraint: string, amount_minor: number, currency = 'EUR') =>
  assessBuiltIn(under(constraint, currency), {
    action: { type: 'purchase', merchant: 'Nordwerk', amount_minor, currency, description: 'NW-4711' },
  }).assessment;

describe('a clause that limits a sum asks about larger spends, and about no other', () => {
  it.each([
    ['At most EUR 70', 'EUR', 7_000],
    ['1,500 a month at most', 'EUR', null],
    ['Never more than 1,500 a month', 'EUR', 150_000],
    ["Höchstens CHF 1'500.–", 'CHF', 150_000],
    ['Keine Bestellung über 1.500,00 EUR', 'EUR', 150_000],
    ['Högst 1 500 kr', 'SEK', null],
    ['Inga köp över 1 500 kr', 'SEK', null],
    ['Niet meer dan 1.500 euro', 'EUR', 150_000],
    ["Jamais plus de 1 500 € sans l'accord de Ruth", 'EUR', 150_000],
    ['No más de R$ 1.500', 'BRL', 150_000],
    ['Up to ¥12,000 per order', 'JPY', 12_000],
    ['5万円以内', 'JPY', 50_000],
    ['12,000円まで', 'JPY', 12_000],
    ['Nothing over 1,50,000 INR', 'INR', 15_000_000],
    ['Bills above $5k are shown to Ruth first', 'USD', 500_000],
    ['Over EUR 4.35, ask Ruth', 'EUR', 435],
  ])('%s', (constraint, currency, limit) => {
    if (limit === null) return;
    expect(assess(constraint, limit, currency)).toBe('PURPOSE_ALIGNED');
    expect(assess(constraint, limit + 1, currency)).toBe('PURPOSE_UNCLEAR');
  });

  it.each([
    ['At most EUR 70 per night', 'EUR 70.00 per night'],
    ['Hotels up to 120 euros a person', 'EUR 120.00 per person'],
    ['Nothing over €12.50/kg', 'EUR 12.50 per kg'],
    ['Nicht mehr als 1.500,00 EUR pro Tag', 'EUR 1,500.00 per day'],
  ])('the sum of "%s" is shown whole, and a spend may pay for several', (constraint, sum) => {
    const { conditions, not_understood } = showReading(under(constraint));
    expect(conditions.map(({ met_by }) => met_by)).toEqual([expect.stringContaining(sum)]);
    expect(not_understood).toEqual([]);
    expect(assess(constraint, 90_000)).toBe('PURPOSE_ALIGNED');
  });

  test('a sum names neither a merchant nor goods', () => {
    for (const constraint of ['At most EUR 70 per night', 'Ideally under CHF 200 a person']) {
      const { merchants, wanted } = showReading(under(constraint));
      expect([merchants.map(({ name }) => name), wanted]).toEqual([['Nordwerk'], []]);
    }
  });

  test('a sum in another currency is compared with nothing, and said not to be understood', () => {
    expect(read('Nothing over USD 50').marks).toEqual([]);
    expect(showReading(under('Nothing over USD 50')).not_understood.map(({ text }) => text)).toEqual([
      'Nothing over USD 50',
    ]);
  });

  test('what else the clause asks for stays a condition', () => {
    expect(read('Only with a receipt, and at most EUR 70').requirements).toHaveLength(1);
    expect(read('Only with a receipt above EUR 70').requirements).toEqual([]);
    expect(read('At most EUR 70').requirements).toEqual([]);
  });
});

describe('a wish or a fallback asks nothing', () => {
  it.each([
    'Ideally organic',
    'If possible, only from Merck',
    'Order before noon if possible',
    'Preferably under 200 euros',
    'Try to combine orders when there are several',
    'When the blue one is sold out take the green one',
    'If the hotel is fully booked, book the one next door',
    'Möglichst nur aus der Region',
    'Wenn möglich erst nach Absprache',
    'Wenn das Papier ausverkauft ist, nimm das andere',
    'Si possible, seulement en semaine',
    'Si le modèle est épuisé, prendre le suivant',
    'De preferencia solo de cercanía',
    'Si está agotado, comprar el siguiente',
    'Liefst alleen als het regent',
    'Als het uitverkocht is, neem dan de andere',
    'Se possibile, senza plastica',
    'できれば承認後に購入',
    '品切れの場合は別の色を選ぶ',
  ])('%s', (constraint) => {
    const { conditions, forbidden, wishes, not_understood } = showReading(under(constraint));
    expect([conditions, forbidden, not_understood]).toEqual([[], [], []]);
    expect(wishes.map(({ text }) => text)).toEqual([constraint]);
    expect(assess(constraint, 4_200)).toBe('PURPOSE_ALIGNED');
  });

  it.each([
    'Please be polite on the phone',
    'Stay friendly when the supplier is late',
    'Seien Sie höflich, wenn Sie anrufen',
    'Soyez polis quand vous appelez',
    'Sea amable cuando llame',
    'Wees beleefd als je belt',
    '電話では丁寧に話すこと',
  ])('nor does a courtesy, and the reading says that it gave no rule: %s', (constraint) => {
    const { conditions, forbidden, not_understood } = showReading(under(constraint));
    expect([conditions, forbidden]).toEqual([[], []]);
    expect(not_understood.map(({ text }) => text)).toEqual([constraint]);
    expect(assess(constraint, 4_200)).toBe('PURPOSE_ALIGNED');
  });

  test('beside a wish, what is asked for and forbidden holds', () => {
    expect(read('Only with a receipt, ideally on paper').requirements).toHaveLength(1);
    expect(read('No gift cards, and if possible no plastic').prohibitions).toHaveLength(1);
    expect(read('Please be quick, no gift cards').prohibitions).toHaveLength(1);
    expect(read('If it is sold out, ask Ruth before ordering another').requirements).toHaveLength(1);
    expect(read('Never buy weapons if possible').requirements).toHaveLength(1);
  });

  test('what is only wished is wanted all the same', () => {
    expect(read('Preferably from Okabe').merchants.map(({ name }) => name)).toContain('Okabe');
  });
});

test('a sentence that is not understood is said to be so, and asks nothing', () => {
  for (const constraint of ['The moon is made of cheese', 'Ostot hyväksytetään kuukausittain', 'Qwx zrt']) {
    expect(showReading(under(constraint)).not_understood.map(({ text }) => text)).toEqual([constraint]);
    expect(assess(constraint, 4_200)).toBe('PURPOSE_ALIGNED');
  }
});
