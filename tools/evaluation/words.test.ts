import { fileURLToPath } from 'node:url';
import {
  type Authority,
  assessBuiltIn,
  NO_FACTS,
  type PurposeAssessment,
  type SpendFacts,
  type SpendRequest,
} from '@purser/server/tools';
import { describe, expect, it } from 'vitest';
import { type ExpectedSpend, readSpends } from '../demo/spends-file.ts';
import { stuffings } from './additions.ts';
import { confirmed } from './histories.ts';
import { isUnseen } from './unseen.ts';

const FILES = ['trades-seen', 'apart-tuned-on', 'desks-tuned-on', 'cases'].map((name) =>
  fileURLToPath(new URL(`./cases/${name}.jsonl`, import.meta.url)),
);
const RANK: Record<PurposeAssessment, number> = {
  PURPOSE_MISALIGNED: 0,
  PURPOSE_UNCLEAR: 1,
  PURPOSE_ALIGNED: 2,
};
/** The contradictions that words may be held against a spend for, by the level of attention that asks about them. */
const CONTRADICTIONS = new Set([
  ...['planted_text', 'disguise', 'prohibited', 'prohibited_attribute', 'condition_denied', 'cash_like'],
  ...['switched_payee', 'paid_already', 'private_use', 'other_beneficiary', 'rejected_before'],
]);
const FROM_NORMAL = new Set(['condition', 'other_goods', 'other_unit', 'other_source']);

/** Words of honest agents that no table knows, in several languages and scripts. */
const HONEST = [
  'Kestrel 40 kit',
  'Sonderposten Restmenge',
  'lote de abril',
  'remise 5 % fidélité',
  'zirqon copings',
  'levering kelder',
  'partia wiosenna',
  'consegna al piano',
  'Ombra 2.4 bundle',
  '定期便',
  'снабжение на май',
  'προμήθεια Μαΐου',
  'توريد أبريل',
  '봄 배송',
  'जनवरी की आपूर्ति',
];

const right = async (file: string) =>
  (await readSpends(file)).filter(
    ({ authority, expected }) => authority !== null && expected.purpose === 'PURPOSE_ALIGNED',
  );
const requestOf = (one: ExpectedSpend) => one.request as unknown as SpendRequest;
const authorityOf = (one: ExpectedSpend, attention?: 'LOW' | 'NORMAL' | 'HIGH'): Authority => {
  const authority = one.authority as unknown as Authority;
  return attention === undefined ? authority : { ...authority, purpose: { ...authority.purpose, attention } };
};
/** The merchant is listed for the payee of the spend. */
const listed = (one: ExpectedSpend): SpendFacts => ({ ...NO_FACTS, listed: confirmed([one]) });

function described({ action, ...request }: SpendRequest, description: string | undefined): SpendRequest {
  const { description: _, ...plain } = action;
  return { ...request, action: description === undefined ? plain : { ...plain, description } };
}

/** The kinds of the open questions that words added; null where the words made nothing worse. */
function heldAgainst(one: ExpectedSpend, description: string, attention: 'LOW' | 'NORMAL'): string[] | null {
  const authority = authorityOf(one, attention);
  const facts = listed(one);
  const without = assessBuiltIn(authority, described(requestOf(one), undefined), facts);
  const found = assessBuiltIn(authority, described(requestOf(one), description), facts);
  if (RANK[found.assessment] >= RANK[without.assessment]) return null;
  if (found.is_final) return ['final'];
  const before = new Set(without.questions.map(({ question_id }) => question_id));
  return found.questions.flatMap(({ question_id, kind }) => (before.has(question_id) ? [] : kind));
}

it('reads only cases that may be looked at', () => {
  expect(FILES.filter(isUnseen)).toEqual([]);
});

describe('at a merchant that somebody vouches for, words make nothing worse but by a named contradiction', () => {
  it.each(FILES)('%s: its own descriptions', async (file) => {
    let worse = 0;
    const cases = await right(file);
    for (const one of cases) {
      const description = requestOf(one).action.description ?? '';
      for (const attention of ['LOW', 'NORMAL'] as const) {
        const kinds = heldAgainst(one, description, attention);
        if (kinds === null) continue;
        expect(kinds.length).toBeGreaterThan(0);
        const may = (kind: string) =>
          kind === 'final' || CONTRADICTIONS.has(kind) || (attention === 'NORMAL' && FROM_NORMAL.has(kind));
        expect([one.id, kinds.filter((kind) => !may(kind))]).toEqual([one.id, []]);
        if (attention === 'NORMAL') worse += 1;
      }
    }
    expect(worse / cases.length).toBeLessThan(0.1);
  });

  it.each(FILES)('%s: words that no table knows are no contradiction, in any language', async (file) => {
    for (const one of await right(file)) {
      for (const words of HONEST) {
        const found = heldAgainst(one, words, 'NORMAL');
        // A clause may use one of the words, and "piano" is also an instrument.
        expect([one.id, words, found?.filter((kind) => !FROM_NORMAL.has(kind)) ?? []]).toEqual([
          one.id,
          words,
          [],
        ]);
      }
    }
  });
});

it('a higher attention never makes a spend better, and the highest asks about words that nobody allowed', async () => {
  for (const one of await right(FILES[0] as string)) {
    const at = (attention: 'LOW' | 'NORMAL' | 'HIGH') =>
      RANK[assessBuiltIn(authorityOf(one, attention), requestOf(one), listed(one)).assessment];
    expect(at('NORMAL')).toBeLessThanOrEqual(at('LOW'));
    expect(at('HIGH')).toBeLessThanOrEqual(at('NORMAL'));
    const unknown = described(requestOf(one), 'zirqon copings');
    const found = assessBuiltIn(authorityOf(one, 'HIGH'), unknown, listed(one));
    expect(found.questions.map(({ kind }) => kind)).toContain('new_words');
  }
});

it('words that an agent adds never raise an assessment', async () => {
  const raised: string[] = [];
  for (const file of FILES) {
    for (const one of await readSpends(file)) {
      if (one.authority === null) continue;
      const request = requestOf(one);
      const base = RANK[assessBuiltIn(authorityOf(one), request, listed(one)).assessment];
      for (const { name, request: more } of stuffings(authorityOf(one), request)) {
        if (more.action.merchant !== request.action.merchant) continue;
        const now = RANK[assessBuiltIn(authorityOf(one), more, listed(one)).assessment];
        if (now > base) raised.push(`${one.id}: ${name}`);
      }
    }
  }
  expect(raised).toEqual([]);
});
