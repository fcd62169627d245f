import type { Simulation } from '@purser/sdk';
import { expect, test } from 'vitest';
import { matrixOf, wronglyChanged } from './simulation.ts';

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

test('of labelled decisions those are counted that cross the line to or from ALLOW', () => {
  const by_label = (
    [
      ['ALLOW', 'DENY', 'PURPOSE_ALIGNED', 3],
      ['ALLOW', 'REVIEW', 'PURPOSE_ALIGNED', 2],
      ['REVIEW', 'DENY', 'PURPOSE_ALIGNED', 10],
      ['ALLOW', 'DENY', 'PURPOSE_MISALIGNED', 10],
      ['DENY', 'ALLOW', 'PURPOSE_MISALIGNED', 1],
      ['REVIEW', 'ALLOW', 'PURPOSE_MISALIGNED', 6],
      ['REVIEW', 'ALLOW', 'PURPOSE_ALIGNED', 10],
    ] as const
  ).map(([from, to, label, count]) => ({ from, to, label, count }));
  expect(wronglyChanged({ by_label })).toEqual({ stopped_wrongly: 5, passed_wrongly: 7 });
});
