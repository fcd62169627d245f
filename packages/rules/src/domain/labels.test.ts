import type { Label } from '@purser/contract/records';
import { expect, test } from 'vitest';
import { currentLabels, labelDataHash } from './labels.ts';

const link = (label_id: string, supersedes: string | null) => ({ label_id, supersedes });
const current = (...links: [string, string | null][]) =>
  currentLabels(links.map(([id, of]) => link(id, of))).map((each) => each.label_id);

test('all labels are current except those that another one supersedes', () => {
  expect(current()).toEqual([]);
  expect(current(['1', null])).toEqual(['1']);
  expect(current(['1', null], ['2', null])).toEqual(['1', '2']);
  expect(current(['1', null], ['2', '1'])).toEqual(['2']);
  expect(current(['1', null], ['2', null], ['3', '1'])).toEqual(['2', '3']);
  expect(current(['1', null], ['2', '1'], ['3', '2'])).toEqual(['3']);
});

test('every column of a label is sealed', () => {
  const label: Label = {
    label_id: 'lbl_1',
    decision_id: 'dec_1',
    label: 'PURPOSE_ALIGNED',
    comment: null,
    supersedes: null,
    principal_id: null,
    key_id: 'key_1',
    questions: ['q_1'],
    created_at: '2026-11-21T08:00:00.000Z',
  };
  const sealed = labelDataHash(label).toString('hex');
  for (const name of Object.keys(label)) {
    expect(labelDataHash({ ...label, [name]: 'altered' } as never).toString('hex'), name).not.toBe(sealed);
  }
});
