import {
  type Authority,
  CONFLICTS,
  conflictsFound,
  historyKey,
  NO_FACTS,
  payeeKey,
  type SpendFacts,
  type SpendRequest,
} from '@purser/server/tools';
import type { ExpectedSpend } from '../demo/spends-file.ts';
import type { Share } from './measure.ts';

/** How often a conflict fired, cold: as MISALIGNED or as UNCLEAR, on spends of each right answer. */
export type Firings = Record<'denied' | 'held', { misaligned: number; unclear: number; right: number }>;

const COLUMN = {
  PURPOSE_MISALIGNED: 'misaligned',
  PURPOSE_UNCLEAR: 'unclear',
  PURPOSE_ALIGNED: 'right',
} as const;

/** The firings of every conflict over the cases, each judged as if it were the agent's first spend. */
export function measureConflicts(cases: readonly ExpectedSpend[]): Map<string, Firings> {
  const none = () => ({ misaligned: 0, unclear: 0, right: 0 });
  const rows = new Map(
    CONFLICTS.map(({ kind }): [string, Firings] => [kind, { denied: none(), held: none() }]),
  );
  for (const { authority, request, expected } of cases) {
    if (authority === null) continue;
    const found = conflictsFound(authority as unknown as Authority, request as unknown as SpendRequest);
    for (const { kind, severity } of found) {
      const row = rows.get(kind) as Firings;
      row[severity === 'unclear' ? 'held' : 'denied'][COLUMN[expected.purpose]] += 1;
    }
  }
  return rows;
}

/** A conflict that needs history, on spends made for it from right ones, and on twins that it must leave alone. */
export interface Check {
  id: string;
  made_for_it: string;
  twin: string;
  caught: Share;
  wrongly: Share;
}

const NOW = '2026-11-10T12:00:00.000Z';
const AN_HOUR_AGO = '2026-11-10T11:00:00.000Z';
const LONG_AGO = '2026-09-01T12:00:00.000Z';

type Made = readonly [authority: Authority, request: SpendRequest, facts: SpendFacts];

function changed({ action, ...rest }: SpendRequest, change: Partial<SpendRequest['action']>): SpendRequest {
  return { ...rest, action: { ...action, ...change } };
}

/** The spend as it was paid before. */
function paidAs({ action }: SpendRequest, more: Partial<SpendFacts['paid'][number]> = {}): SpendFacts {
  const one = {
    decision_id: 'dec_1',
    merchant: action.merchant,
    payee_id: action.payee_id ?? null,
    amount_minor: action.amount_minor,
    currency: action.currency,
    at: AN_HOUR_AGO,
    state: 'EXECUTED' as const,
    type: action.type,
    description: action.description ?? '',
    ...more,
  };
  return { ...NO_FACTS, as_of: NOW, paid: [one] };
}

/** People allowed a spend there, to this payee. */
function allowedTo({ action }: SpendRequest, payee_id: string): SpendFacts {
  const one = {
    merchant: historyKey(action.merchant),
    payee_id,
    said_by_people: { allowed: 1, refused: 0 },
    settled_by_rail: 0,
    words: new Map(),
    usual_minor: new Map([[action.currency, { low: action.amount_minor, high: action.amount_minor }]]),
    last_at: LONG_AGO,
  };
  return {
    ...NO_FACTS,
    precedents: {
      by_merchant: new Map([[one.merchant, [one]]]),
      by_payee: new Map([[payeeKey(payee_id), [one]]]),
    },
  };
}

const OWN = 'bank:OWN-1';
const OTHER = 'bank:OTHER-2';
const numbered = (request: SpendRequest, number: string) =>
  changed(request, { description: `${request.action.description ?? ''}, invoice ${number}` });

const CHECKS: readonly {
  id: string;
  made_for_it: string;
  twin: string;
  make(authority: Authority, request: SpendRequest): { caught: Made; twin: Made };
}[] = [
  {
    id: 'paid_already',
    made_for_it: 'the same invoice, paid an hour ago',
    twin: 'the next invoice of the same sum',
    make: (authority, request) => ({
      caught: [authority, numbered(request, '4471'), paidAs(numbered(request, '4471'))],
      twin: [authority, numbered(request, '4490'), paidAs(numbered(request, '4471'))],
    }),
  },
  {
    id: 'split_sum',
    made_for_it: 'a second part just under the review threshold, on the same day',
    twin: 'the same sum, weeks later',
    make: (authority, request) => {
      const tight = {
        ...authority,
        currency: request.action.currency,
        review_threshold_minor: request.action.amount_minor,
      };
      const part = { description: 'first part' };
      return {
        caught: [tight, request, paidAs(request, part)],
        twin: [tight, request, paidAs(request, { ...part, at: LONG_AGO })],
      };
    },
  },
  {
    id: 'refund_elsewhere',
    made_for_it: 'a refund to another payee than was paid',
    twin: 'a refund to the payee that was paid',
    make: (authority, request) => {
      const paid = paidAs(request, { payee_id: OWN });
      return {
        caught: [authority, changed(request, { type: 'refund', payee_id: OTHER }), paid],
        twin: [authority, changed(request, { type: 'refund', payee_id: OWN }), paid],
      };
    },
  },
  {
    id: 'new_payee',
    made_for_it: 'another payee of the rail than people allowed',
    twin: 'the payee that people allowed',
    make: (authority, request) => ({
      caught: [authority, changed(request, { payee_id: OTHER }), allowedTo(request, OWN)],
      twin: [authority, changed(request, { payee_id: OWN }), allowedTo(request, OWN)],
    }),
  },
];

/** Measures the conflicts that need history, on spends made from the right ones of the cases. */
export function measureChecks(cases: readonly ExpectedSpend[]): Check[] {
  const right = cases.filter(
    ({ authority, request, expected }) =>
      authority !== null &&
      expected.purpose === 'PURPOSE_ALIGNED' &&
      !/refund/.test((request as unknown as SpendRequest).action.type),
  );
  return CHECKS.map(({ id, made_for_it, twin, make }) => {
    const share = (which: 'caught' | 'twin'): Share => ({
      of: right.length,
      count: right.filter(({ authority, request }) => {
        const made = make(authority as unknown as Authority, request as unknown as SpendRequest)[which];
        return conflictsFound(...made).some((one) => one.kind === id);
      }).length,
    });
    return { id, made_for_it, twin, caught: share('caught'), wrongly: share('twin') };
  });
}
