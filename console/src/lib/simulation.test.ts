import type { Simulation } from '@purser/sdk';
import { expect, test } from 'vitest';
import { type ChangedDecision, judgedBy, matrixOf } from './simulation.ts';

test('the matrix has what changed beside the diagonal and the rest on it', () => {
  const simulation = {
    current: { allow: 10, review: 5, deny: 3, authorized_minor: 0 },
    transitions: [
      { from: 'ALLOW', to: 'DENY', count: 4, amount_minor: 1 },
      { from: 'ALLOW', to: 'REVIEW', count: 1, amount_minor: 1 },
      { from: 'REVIEW', to: 'ALLOW', count: 2, amount_minor: 1 },
    ],
  } as unknown as Simulation;
  expect(matrixOf(simulation)).toEqual({
    ALLOW: { ALLOW: 5, REVIEW: 1, DENY: 4 },
    REVIEW: { ALLOW: 2, REVIEW: 3, DENY: 0 },
    DENY: { ALLOW: 0, REVIEW: 0, DENY: 3 },
  });
});

test('only labelled decisions that cross the line to or from ALLOW are counted', () => {
  const changed = (from: string, to: string, label: string | null) =>
    ({ current: { decision: from }, draft: { decision: to }, label }) as unknown as ChangedDecision;
  expect(
    judgedBy([
      changed('ALLOW', 'DENY', 'PURPOSE_ALIGNED'),
      changed('ALLOW', 'REVIEW', 'PURPOSE_ALIGNED'),
      changed('REVIEW', 'DENY', 'PURPOSE_ALIGNED'),
      changed('ALLOW', 'DENY', 'PURPOSE_MISALIGNED'),
      changed('DENY', 'ALLOW', 'PURPOSE_MISALIGNED'),
      changed('REVIEW', 'ALLOW', 'PURPOSE_MISALIGNED'),
      changed('REVIEW', 'ALLOW', null),
    ]),
  ).toEqual({ stopped_wrongly: 2, passed_wrongly: 2 });
});
