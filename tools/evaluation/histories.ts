import {
  type Authority,
  historyKey,
  historyWords,
  type ListedMerchant,
  NO_FACTS,
  type Precedent,
  type PurposeAssessment,
  payeeKey,
  type SpendFacts,
  type SpendRequest,
} from '@purser/server/tools';
import type { ExpectedSpend } from '../demo/spends-file.ts';

/** An authority with its cases in order, and which of them were seen in SHADOW. */
export interface Season {
  authority: Authority;
  seen: readonly ExpectedSpend[];
  all: readonly ExpectedSpend[];
}

/** A constraint that has to do with no spend: what people said must survive it. */
const UNRELATED = 'Receipts are archived for ten years';

/** The cases by authority: every second one, from the first on, was seen. */
export function seasonsOf(cases: readonly ExpectedSpend[]): Season[] {
  const by_authority = new Map<string, ExpectedSpend[]>();
  for (const one of cases) {
    if (one.authority === null) continue;
    by_authority.set(one.authority_id, [...(by_authority.get(one.authority_id) ?? []), one]);
  }
  return [...by_authority.values()].map((all) => ({
    authority: (all[0] as ExpectedSpend).authority as unknown as Authority,
    seen: all.filter((_, i) => i % 2 === 0),
    all,
  }));
}

/** The authority after an edit that has to do with none of its spends. */
export function edited(authority: Authority): Authority {
  const constraints = [...(authority.purpose.constraints ?? []), UNRELATED];
  return { ...authority, purpose: { ...authority.purpose, constraints } };
}

const requestOf = (one: ExpectedSpend): SpendRequest => one.request as unknown as SpendRequest;

/**
 * The directory after a careful operator went through the suggestions: merchants where everything that was seen was right,
 * each with the payees that were seen.
 */
export function confirmed(seen: readonly ExpectedSpend[]): ListedMerchant[] {
  const by_merchant = new Map<string, ExpectedSpend[]>();
  for (const one of seen) {
    const key = historyKey(requestOf(one).action.merchant);
    by_merchant.set(key, [...(by_merchant.get(key) ?? []), one]);
  }
  return [...by_merchant.values()]
    .filter((spends) => spends.every(({ expected }) => expected.purpose === 'PURPOSE_ALIGNED'))
    .map((spends, i) => ({
      entry_id: `mer_${i}`,
      merchant: requestOf(spends[0] as ExpectedSpend).action.merchant,
      payee_ids: [...new Set(spends.flatMap((one) => requestOf(one).action.payee_id ?? []))],
      verdict: 'ALLOWED' as const,
      listed_by: 'user:evaluation',
      listed_at: '2026-01-01T00:00:00.000Z',
    }));
}

/** What people said of these spends: each is labelled with its right answer; an unclear one says nothing. */
export function labelled(seen: readonly ExpectedSpend[]): SpendFacts['precedents'] {
  const precedents = seen.flatMap((one): Precedent[] => {
    const { merchant, payee_id, amount_minor, currency, description = '' } = requestOf(one).action;
    const label: PurposeAssessment = one.expected.purpose;
    if (label === 'PURPOSE_UNCLEAR') return [];
    const allowed = Number(label === 'PURPOSE_ALIGNED');
    const said = { allowed, refused: 1 - allowed };
    return [
      {
        merchant: historyKey(merchant),
        payee_id: payee_id ?? null,
        said_by_people: said,
        settled_by_rail: 0,
        words: new Map(historyWords(description).map((word) => [word, said])),
        usual_minor:
          allowed === 1 ? new Map([[currency, { low: amount_minor, high: amount_minor }]]) : new Map(),
        last_at: '2026-01-01T00:00:00.000Z',
      },
    ];
  });
  const grouped = (keyOf: (one: Precedent) => string | null) => {
    const groups = new Map<string, Precedent[]>();
    for (const one of precedents) {
      const key = keyOf(one);
      if (key !== null) groups.set(key, [...(groups.get(key) ?? []), one]);
    }
    return groups;
  };
  return {
    by_merchant: grouped((one) => one.merchant),
    by_payee: grouped((one) => one.payee_id && payeeKey(one.payee_id)),
  };
}

/** All facts after the SHADOW of a season. */
export function factsAfter(seen: readonly ExpectedSpend[]): SpendFacts {
  return { ...NO_FACTS, listed: confirmed(seen), precedents: labelled(seen) };
}

/** The same spend some weeks later: another sum, another order, another day. */
export function later(request: SpendRequest): SpendRequest {
  const { action } = request;
  return {
    ...request,
    action: {
      ...action,
      amount_minor: Math.round(action.amount_minor * 1.07) + 1,
      description: `${action.description ?? ''}${action.description ? ', ' : ''}no. 48213, 4 November`,
    },
  };
}
