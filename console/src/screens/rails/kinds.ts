import type { RailKind } from '@purser/contract/values/history';

export const KIND_LABELS: Readonly<Record<RailKind, string>> = {
  stripe_issuing: 'Stripe Issuing',
  lithic: 'Lithic',
};
