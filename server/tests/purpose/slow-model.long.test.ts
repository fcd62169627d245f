import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LocalModel, startLocalModel } from '../support/local-model.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(4);

let local: LocalModel;
beforeAll(async () => {
  local = await startLocalModel(4_000);
});
afterAll(() => local.stop());

test('a model that needs four seconds for a call gives its opinion on nearly all spends that come at once', async () => {
  const { count, of } = await local.opinions(4);
  expect(of).toBe(16);
  expect(count).toBeGreaterThanOrEqual(14);
});
