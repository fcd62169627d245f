import { beforeEach, expect, test, vi } from 'vitest';

const requestPasskey = vi.fn(async (_options: object) => ({
  id: 'credential',
  response: { signature: 's' },
}));
vi.mock('../passkeys.ts', () => ({ requestPasskey }));
const { needsSignature, signStatement, WrongStatement } = await import('./statements.ts');

beforeEach(() => requestPasskey.mockClear());

const statement = '{"amount_minor":124000,"merchant":"Hetzner Online"}';
const given = { statement, options: { challenge: 'of the service', rpId: 'localhost' } };

test('the passkey signs the hash of the statement, whatever challenge the service names', async () => {
  const signature = await signStatement(given, { amount_minor: 124_000, merchant: 'Hetzner Online' });
  expect(requestPasskey).toHaveBeenCalledWith({
    challenge: 'at2mmTEIWG_1GE6aNjPiUSbDfJiFGPihl0GkgUXgDqI',
    rpId: 'localhost',
  });
  expect(signature).toEqual({ statement, response: { id: 'credential', response: { signature: 's' } } });
});

test('a statement that says something else than the page is not signed', async () => {
  const signing = signStatement(given, { amount_minor: 1, merchant: 'Hetzner Online' });
  await expect(signing).rejects.toThrow(WrongStatement);
  expect(requestPasskey).not.toHaveBeenCalled();
});

test('only a signed tier in Enforce demands a signature', () => {
  const review_tier = { from_minor: 0, approvals: 1, signed: true };
  expect(needsSignature({ mode: 'ENFORCE', review_tier })).toBe(true);
  expect(needsSignature({ mode: 'SHADOW', review_tier })).toBe(false);
  expect(needsSignature({ mode: 'ENFORCE', review_tier: { from_minor: 0, approvals: 1 } })).toBe(false);
});
