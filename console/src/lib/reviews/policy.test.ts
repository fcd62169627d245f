import type { ReviewPolicy } from '@purser/sdk';
import { expect, test } from 'vitest';
import { formPath, newTier, policyDraft, policyInWords, policyOf, withoutGroup } from './policy.ts';

const FULL: ReviewPolicy = {
  groups: { finance: ['user:ada', 'user:bo'], board: ['user:cy'] },
  tiers: [
    {
      currency: 'EUR',
      from_minor: 100_000,
      approvals: 2,
      approvers: ['finance'],
      signed: true,
      escalation: { after_seconds: 3_600, approvers: ['board'] },
    },
    { currency: 'JPY', from_minor: 90_000, approvals: 1 },
  ],
  approver_limits: [{ approver: 'user:bo', currency: 'KWD', max_minor: 500_250 }],
  remind_before_seconds: 5_400,
};

test('a policy comes back from its form unchanged', () => {
  for (const policy of [FULL, {}, { remind_before_seconds: 1 }])
    expect(policyOf(policyDraft(policy))).toEqual({ policy, problems: {} });
});

test('each problem names its field', () => {
  const draft = policyDraft(FULL);
  const { problems } = policyOf({
    groups: [
      { id: 'a', name: 'Finance', members: [] },
      { id: 'b', name: 'board', members: ['user:cy'] },
      { id: 'c', name: 'board', members: ['user:cy'] },
    ],
    tiers: [
      { ...newTier([]), currency: 'E' },
      { ...newTier([]), from: '10.005', escalation: ['board'] },
      { ...newTier([]), from: '10', after: { length: '8', unit: 'days' } },
    ],
    limits: [{ ...draft.limits[0], approver: '', max: 'much', currency: 'EUR' }],
    remind: { length: '1.5', unit: 'hours' },
  });
  expect(Object.keys(problems).sort()).toEqual([
    'approver_limits[0].approver',
    'approver_limits[0].max_minor',
    'groups[0].members',
    'groups[0].name',
    'groups[2].name',
    'remind_before_seconds',
    'tiers[0].currency',
    'tiers[0].from_minor',
    'tiers[1].escalation.after_seconds',
    'tiers[1].from_minor',
    'tiers[2].escalation.after_seconds',
    'tiers[2].escalation.approvers',
  ]);
});

test('a refusal of the service is shown at the control of the field that it names', () => {
  const draft = policyDraft(FULL);
  expect(formPath('groups.board[0]', draft)).toBe('groups[1].members');
  expect(formPath('tiers[0].approvers[1]', draft)).toBe('tiers[0].approvers');
  expect(formPath('tiers[0].escalation.approvers[0]', draft)).toBe('tiers[0].escalation.approvers');
  expect(formPath('tiers[0].approvals', draft)).toBe('tiers[0].approvals');
});

test('a renamed group keeps its tiers, and a removed one leaves them', () => {
  const draft = policyDraft(FULL);
  const groups = draft.groups.map((each) => (each.id === 'finance' ? { ...each, name: 'money' } : each));
  expect(policyOf({ ...draft, groups }).policy.tiers?.[0]?.approvers).toEqual(['money']);
  const without = policyOf(withoutGroup(draft, 'board')).policy;
  expect(without.groups).toEqual({ finance: ['user:ada', 'user:bo'] });
  expect(without.tiers?.[0]?.escalation?.approvers).toEqual([]);
});

test('a policy is said in sentences', () => {
  const names: Record<string, string> = { 'user:ada': 'Ada', 'user:bo': 'Bo', 'user:cy': 'Cy' };
  expect(policyInWords(FULL, (name) => names[name] ?? name)).toEqual([
    'From EUR 1,000.00: 2 approvals, each signed, by finance. After 1 hour, board can approve too.',
    'From JPY 90,000: one approval by anyone who may review.',
    'Group finance: Ada, Bo.',
    'Group board: Cy.',
    'Bo may allow up to KWD 500.250.',
    'Approvers are reminded 90 minutes before a request expires.',
  ]);
});
