import { expect } from 'vitest';
import { serviceTest } from '../support/service-test.ts';

/** A workspace that has a service for itself. */
const { test, s, makeAgent, ask } = serviceTest({ plan: 'enterprise' });

const statusesOf = async (calls: Promise<{ status: number; text: string }>[]) => [
  ...new Set((await Promise.all(calls)).map(({ status, text }) => (status === 200 ? 200 : text))),
];

test('tests of authorities, eight at once and each of the most steps there may be, are all carried out', async () => {
  const steps = Array.from({ length: 200 }, (_, i) => ({
    at: new Date(Date.UTC(2026, 10, 21, 8, 0, i)).toISOString(),
    decide: {
      action: { type: 'purchase', merchant: `Hetzner ${i}`, amount_minor: 1_000 + i, currency: 'EUR' },
    },
  }));
  const body = { authority: { purpose: { objective: 'Keep the staging servers' }, currency: 'EUR' }, steps };
  const calls = Array.from({ length: 8 }, () => s.call('POST', '/v1/authority/test', { body }));
  expect(await statusesOf(calls)).toEqual([200]);
});

test('shadow reports, more at once than half of the places, are all answered, also beside tests of authorities', async () => {
  const slug = await makeAgent({}, { mode: 'SHADOW' });
  for (let i = 0; i < 5; i++) await ask(slug, 1_000 + i);
  const reports = () => Array.from({ length: 24 }, () => s.call('GET', '/v1/reports/shadow'));
  expect(await statusesOf(reports())).toEqual([200]);
  const body = {
    authority: { purpose: { objective: 'Keep the staging servers' }, currency: 'EUR' },
    steps: [
      {
        at: '2026-11-21T08:00:00Z',
        decide: { action: { type: 'purchase', merchant: 'Hetzner', amount_minor: 1_000, currency: 'EUR' } },
      },
    ],
  };
  const tests = Array.from({ length: 8 }, () => s.call('POST', '/v1/authority/test', { body }));
  expect(await statusesOf([...reports(), ...tests])).toEqual([200]);
});
