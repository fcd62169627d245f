import { readPublicKeys } from '@purser/rules/domain/checkpoints';
import { expect } from 'vitest';
import { makeExportVerifier } from '../../src/engine/verification/ledger-export.ts';
import { freshKey, spend } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(10);
const { test, s, get, makeAgent } = serviceTest();
test.beforeAll(() => makeAgent({}, { slug: 'a' }));

test('an export gives its connection back when the client goes away, however often', async () => {
  // More than the socket takes at once, so that the export is under way when its client goes.
  for (let i = 0; i < 40; i++) {
    await Promise.all(
      Array.from({ length: 50 }, () =>
        s.call('POST', '/v1/decisions', {
          body: spend('a', 1, { context: { pad: 'x'.repeat(6_000) } }),
          idempotency_key: freshKey(),
        }),
      ),
    );
  }
  for (let i = 0; i < 8; i++) {
    const leaving = new AbortController();
    const answer = await fetch(`${s.url}/v1/ledger/export`, {
      headers: { 'x-api-key': s.admin_key },
      signal: leaving.signal,
    });
    await answer.body?.getReader().read();
    leaving.abort();
  }
  const { head } = await get('/v1/ledger/verify');
  const whole = await s.call('GET', '/v1/ledger/export');
  const verifier = makeExportVerifier(
    readPublicKeys(await (await fetch(`${s.url}/.well-known/jwks.json`)).text()),
  );
  const lines = whole.text.split('\n');
  for (const line of lines.slice(0, -1)) verifier.line(Buffer.from(line));
  const verdict = verifier.end(Buffer.from(lines.at(-1) as string));
  expect(verdict).toMatchObject({ valid: true, events_checked: head.seq });
});
