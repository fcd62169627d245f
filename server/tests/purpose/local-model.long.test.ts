import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LocalModel, startLocalModel } from '../support/local-model.ts';

let local: LocalModel;
beforeAll(async () => {
  local = await startLocalModel(400);
});
afterAll(() => local.stop());

test('a model that answers one call at a time gives its opinion on nearly all spends that come at once, also while it starts', async () => {
  const { count, of } = await local.opinions(6);
  expect(of).toBe(24);
  expect(count).toBeGreaterThanOrEqual(23);
  expect(local.mostOpen()).toBe(1);
});
