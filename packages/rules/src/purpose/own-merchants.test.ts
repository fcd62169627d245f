import type { Authority } from '@purser/contract/authority';
import type { SpendRequest } from '@purser/contract/decisions';
import { describe, expect, it } from 'vitest';
import { assessBuiltIn, makeBuiltInAssessor } from './built-in-assessor.ts';
import { MerchantsFileError, parseMerchants } from './own-merchants.ts';

const BAKERY: Authority = {
  purpose: { objective: 'Buy flour, milk and coffee for the bakery.' },
  currency: 'EUR',
};
const spend = (merchant: string, description?: string): SpendRequest => ({
  action: {
    type: 'purchase',
    merchant,
    amount_minor: 4_200,
    currency: 'EUR',
    ...(description === undefined ? {} : { description }),
  },
});

describe("the operator's merchants", () => {
  it('a list of merchants names a trade, a category code or general, and may have comments and empty lines', () => {
    expect(
      parseMerchants(
        '\uFEFF# ours\nMühle Arnold; groceries\n\nKranich & Co; 7995 # a casino\r\nHalle 7; general\n',
      ),
    ).toEqual([
      { name: 'Mühle Arnold', trade_ids: ['groceries'] },
      { name: 'Kranich & Co', trade_ids: ['gambling'] },
      { name: 'Halle 7', trade_ids: [] },
    ]);
  });

  it.each([
    ['no trade', 'Mühle Arnold', /line 1 .*name; trade/],
    ['no name', '; groceries', /line 1/],
    ['an unknown trade', '# x\nMühle; bread', /line 2 .*"bread"/],
    ['a code of no trade', 'Mühle; 0001', /line 1 .*"0001"/],
    ['a name too long', `${'m'.repeat(201)}; groceries`, /more than 200/],
    ['too many lines', '\n'.repeat(20_001), /20000 lines/],
  ])('%s is refused with its line', (_, text, message) => {
    expect(() => parseMerchants(text)).toThrow(MerchantsFileError);
    expect(() => parseMerchants(text)).toThrow(message);
  });

  it('merchants of the operator count like those of the tables, for and against a spend', () => {
    const assess = makeBuiltInAssessor(parseMerchants('Mühle Arnold; groceries\nKranich & Co; 7995'));
    expect(assessBuiltIn(BAKERY, spend('Mühle Arnold')).assessment).toBe('PURPOSE_UNCLEAR');
    expect(assess(BAKERY, spend('Mühle Arnold GmbH')).assessment).toBe('PURPOSE_ALIGNED');
    expect(assess(BAKERY, spend('Kranich & Co', 'flour')).assessment).not.toBe('PURPOSE_ALIGNED');
    expect(assess(BAKERY, spend('Kranich & Co')).assessment).not.toBe('PURPOSE_ALIGNED');
  });

  it('merchants of the operator override the tables', () => {
    const assess = makeBuiltInAssessor(parseMerchants('Nintendo; groceries'));
    expect(assessBuiltIn(BAKERY, spend('Nintendo')).assessment).not.toBe('PURPOSE_ALIGNED');
    expect(assess(BAKERY, spend('Nintendo')).assessment).toBe('PURPOSE_ALIGNED');
  });

  it('merchants of one assessor never affect an assessor with another list, however often they were seen', () => {
    const bakers = makeBuiltInAssessor([{ name: 'Kranich', trade_ids: ['groceries'] }]);
    const players = makeBuiltInAssessor([{ name: 'Kranich', trade_ids: ['gambling'] }]);
    for (let i = 0; i < 2; i += 1) {
      expect(bakers(BAKERY, spend('Kranich')).assessment).toBe('PURPOSE_ALIGNED');
      expect(players(BAKERY, spend('Kranich')).assessment).not.toBe('PURPOSE_ALIGNED');
      expect(assessBuiltIn(BAKERY, spend('Kranich')).assessment).toBe('PURPOSE_UNCLEAR');
    }
  });
});
