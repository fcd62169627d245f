import { REASON_CODES } from '@purser/contract/reasons';
import type { Filter } from '../../components/Filters.tsx';
import type { View } from '../../lib/views.ts';
import { reasonWords, words } from '../../lib/words.ts';

const withWords = (codes: readonly string[]) => codes.map((code) => [code, words(code)] as const);

/** The API's filters of decisions. Filters with fixed values accept several, separated by commas. */
export const FILTERS: readonly Filter[] = [
  { param: 'q', name: 'Merchant', type: 'search', placeholder: 'Part of the name' },
  { param: 'agent', name: 'Agent', placeholder: 'Slug or ID' },
  { param: 'decision', name: 'Decision', options: withWords(['ALLOW', 'REVIEW', 'DENY']) },
  { param: 'mode', name: 'Mode', options: withWords(['SHADOW', 'ENFORCE']) },
  {
    param: 'reason',
    name: 'Reason',
    options: REASON_CODES.map((code) => [code, reasonWords(code)] as const),
  },
  {
    param: 'outcome_state',
    name: 'Outcome',
    options: withWords(['NONE', 'EXECUTED', 'FAILED', 'CANCELLED', 'PARTIALLY_REFUNDED', 'REFUNDED']),
  },
  {
    param: 'effective_decision',
    name: 'Effective decision',
    options: withWords(['ALLOW', 'REVIEW', 'DENY']),
    more: true,
  },
  {
    param: 'review_state',
    name: 'Review',
    options: withWords(['PENDING', 'ALLOWED', 'DENIED', 'EXPIRED']),
    more: true,
  },
  {
    param: 'label',
    name: 'Label',
    options: withWords(['PURPOSE_ALIGNED', 'PURPOSE_MISALIGNED', 'PURPOSE_UNCLEAR']),
    more: true,
  },
  {
    param: 'labeled',
    name: 'Labelled',
    options: [
      ['true', 'Yes'],
      ['false', 'No'],
    ],
    more: true,
  },
  {
    param: 'reviewed',
    name: 'Reviewed',
    options: [
      ['true', 'Yes'],
      ['false', 'No'],
    ],
    more: true,
  },
  { param: 'merchant', name: 'Merchant (exact)', more: true },
  { param: 'question_id', name: 'Question', placeholder: 'ID', more: true },
  { param: 'allowance', name: 'Allowance', placeholder: 'ID', more: true },
  { param: 'currency', name: 'Currency', placeholder: 'EUR', more: true },
  { param: 'min_amount', name: 'At least', type: 'amount', more: true },
  { param: 'max_amount', name: 'At most', type: 'amount', more: true },
  { param: 'from', name: 'From', type: 'date', more: true },
  { param: 'to', name: 'To', type: 'date', more: true },
  {
    param: 'order',
    name: 'Order',
    options: [
      ['desc', 'Newest first'],
      ['asc', 'Oldest first'],
    ],
    more: true,
  },
];

/** The built-in views. */
export const SYSTEM_VIEWS: readonly View[] = [
  { name: 'All', search: {} },
  { name: 'Stopped', search: { effective_decision: 'DENY,REVIEW' } },
  { name: 'Would have been stopped', search: { mode: 'SHADOW', decision: 'DENY,REVIEW' } },
  { name: 'Executed despite denial', search: { decision: 'DENY,REVIEW', outcome_state: 'EXECUTED' } },
  { name: 'Unlabelled', search: { labeled: 'false' } },
];
