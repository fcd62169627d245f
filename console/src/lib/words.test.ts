import { expect, test } from 'vitest';
import { REASON_CODES as OF_SERVICE } from '../../../server/src/domain/decisions.ts';
import { REASON_CODES } from './words.ts';

test('every reason of the service has words, and can be filtered by', () => {
  expect([...REASON_CODES].sort()).toEqual([...OF_SERVICE].sort());
});
