import { expect, it } from 'vitest';
import { amountsIn } from './AmountFilter.tsx';

const PARAMS = ['min_amount', 'max_amount'];

it('keeps what was typed when the currency changes, whatever its minor unit', () => {
  const search = { currency: 'EUR', min_amount: '12000', agent: 'infra-bot' };
  expect(amountsIn(search, PARAMS, 'JPY')).toEqual({ min_amount: '120' });
  expect(amountsIn({ ...search, currency: 'JPY', min_amount: '120' }, PARAMS, 'KWD')).toEqual({
    min_amount: '120000',
  });
});

it('drops amounts with their currency, and leaves those of a link without one', () => {
  expect(amountsIn({ currency: 'EUR', max_amount: '500' }, PARAMS, undefined)).toEqual({
    max_amount: undefined,
  });
  expect(amountsIn({ max_amount: '500' }, PARAMS, 'JPY')).toEqual({});
});
