import { STAGES } from '@purser/contract/stages';
import { expect, test } from 'vitest';
import { stageWords } from './words.ts';

test('every stage has a heading of its own', () => {
  expect(new Set(STAGES.map(stageWords)).size).toBe(STAGES.length);
});
