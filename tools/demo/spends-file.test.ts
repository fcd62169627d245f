import { fileURLToPath } from 'node:url';
import { type Authority, decide, EMPTY_DIRECTORY, type SpendRequest } from '@purser/server/tools';
import { describe, expect, test } from 'vitest';
import { parseSpends, readSpends } from './spends-file.ts';

const OWN_FILE = fileURLToPath(new URL('./spends.jsonl', import.meta.url));

const SPEND = {
  id: 'a-1',
  authority_id: 'a',
  authority: { purpose: { objective: 'Buy paper.' }, currency: 'EUR' },
  request: { action: { type: 'purchase', merchant: 'Paper Mill', amount_minor: 100, currency: 'EUR' } },
  expected: { purpose: 'PURPOSE_ALIGNED', why: 'Paper.' },
  attack: null,
  tags: [],
  other_words: [],
  allowance: null,
};

function line(changes: Record<string, unknown> = {}): string {
  return JSON.stringify({ ...SPEND, ...changes });
}

describe('a file of spends', () => {
  test('is read line by line, empty lines and a byte order mark left out', () => {
    const spends = parseSpends(`\uFEFF${line()}\r\n\n${line({ id: 'a-2' })}\n`, 'f');
    expect(spends.map(({ id }) => id)).toEqual(['a-1', 'a-2']);
  });

  test.each([
    ['a line that is not JSON', `${line()}\n{oops`, /^f, line 2 is not JSON: /],
    ['a line that is no object', '[1]', 'f, line 1 is not a JSON object.'],
    ['a spend without an action', line({ request: {} }), 'f, line 1 has no "request" with an "action".'],
    [
      'an unknown expectation',
      line({ expected: { purpose: 'FINE' } }),
      /^f, line 1 has no "expected.purpose" that is/,
    ],
    [
      'an authority that is a text',
      line({ authority: 'all' }),
      /^f, line 1 has no "authority" that is an object or null/,
    ],
    ['an id used twice', `${line()}\n\n${line()}`, 'f, line 3 has the id "a-1" of line 1.'],
    ['a file without spends', '\n\n', 'f holds no spends.'],
  ])('%s is refused by a message that names the line', (_, text, message) => {
    expect(() => parseSpends(text, 'f')).toThrow(message);
  });

  test('that is missing is refused by its name', async () => {
    await expect(readSpends('/nowhere/spends.jsonl')).rejects.toThrow(
      'There is no file /nowhere/spends.jsonl.',
    );
  });
});

/** The reasons that the stages give which every authority has. */
const REASONS_OF_ALL = [
  'WITHIN_AUTHORITY',
  'NO_AUTHORITY',
  'CURRENCY_NOT_AUTHORIZED',
  'MERCHANT_BLOCKED',
  'PER_TRANSACTION_LIMIT_EXCEEDED',
  'MONTHLY_BUDGET_EXCEEDED',
  'AMOUNT_LIMITED',
  'MIN_AMOUNT_UNREACHABLE',
  'PURPOSE_MISALIGNED',
  'PURPOSE_UNCLEAR',
  'REVIEW_THRESHOLD_EXCEEDED',
];

describe("the demo's own spends", async () => {
  const spends = await readSpends(OWN_FILE);

  test('are at least 40 over at least 6 authorities, one authority an id', () => {
    expect(spends.length).toBeGreaterThanOrEqual(40);
    const texts = new Map<string, Set<string>>();
    for (const { authority_id, authority } of spends) {
      texts.set(authority_id, (texts.get(authority_id) ?? new Set()).add(JSON.stringify(authority)));
    }
    expect([...texts.values()].every((set) => set.size === 1)).toBe(true);
    expect(
      new Set(spends.filter((s) => s.authority !== null).map((s) => s.authority_id)).size,
    ).toBeGreaterThan(5);
  });

  test('make every reason of the stages that all authorities have occur when purpose is judged as expected', () => {
    const held = new Map<string, number>();
    const seen = new Set<string>();
    for (const { authority_id, authority, request, expected } of spends) {
      const budget = { held_minor: held.get(authority_id) ?? 0, committed_minor: 0 };
      const assessment = { confidence: 1, method: 'expected', rationale: '', evidence: [] };
      const verdict = decide({
        authority: authority as unknown as Authority | null,
        request: request as unknown as SpendRequest,
        directory: EMPTY_DIRECTORY,
        budget,
        is_known_merchant: false,
        now_ms: 0,
        assessment: authority === null ? null : { ...assessment, assessment: expected.purpose },
      });
      for (const code of verdict.reason_codes) seen.add(code);
      held.set(authority_id, budget.held_minor + verdict.held_amount_minor);
    }
    expect([...seen].sort()).toEqual([...REASONS_OF_ALL].sort());
  });
});
