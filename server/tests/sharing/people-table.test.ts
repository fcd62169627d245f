import { expect } from 'vitest';
import { setUp } from '../support/browser.ts';
import { fieldOf, makeKey, refusal } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const { test, s, ask, post, makeAgent, keyWith } = serviceTest({ plan: 'enterprise' });

/** The cells of CSV, as RFC 4180 has them. */
function cellsOf(text: string): string[][] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n|$)/g)) {
    if (quoted === undefined && plain === '' && end === '') break;
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if (end === '\n') rows.push([]);
  }
  return rows.filter((row) => row.length > 0);
}

/** The table as objects by column. */
async function table(query = '', key?: string) {
  const path = `/v1/decisions/export?format=csv&audience=people&order=asc${query}`;
  const reply = await s.call('GET', path, key === undefined ? {} : { key });
  expect(reply.status, reply.text).toBe(200);
  const [head, ...rows] = cellsOf(reply.text) as [string[], ...string[][]];
  return { head, rows: rows.map((row) => Object.fromEntries(row.map((cell, i) => [head[i], cell]))) };
}

test('a row has the request, the review, the outcome and the chosen fields of the context, in major units', async () => {
  const ada = await setUp(s, { name: 'Ada Lovelace' });
  const slug = await makeAgent({ review_threshold_minor: 100_000 });
  const asked = await ask(slug, 123_456, {
    task: 'Move staging,\nthen "test" it',
    context: { cost_center: 'R&D-7', order: { id: 42, lines: ['a'] }, 'dotted.name': true },
  });
  const id = asked.decision_id;
  expect(asked.decision).toBe('REVIEW');
  const review = { action: 'ALLOW', reason_code: 'AMOUNT_IS_FINE', comment: '=HYPERLINK("x")' };
  expect((await ada.call('POST', `/v1/decisions/${id}/reviews`, { body: review })).status).toBe(201);
  const executed = { type: 'SPEND_EXECUTED', amount_minor: 123_400, external_reference: 'pi_1' };
  await post(`/v1/decisions/${id}/outcomes`, executed);
  const refund = { type: 'PARTIALLY_REFUNDED', amount_minor: 400, external_reference: 're_1' };
  await post(`/v1/decisions/${id}/outcomes`, refund);
  const { head, rows } = await table('&context=cost_center,order,order.id,dotted.name,none');
  expect(head.slice(-6)).toEqual([
    'decision_id',
    'context.cost_center',
    'context.order',
    'context.order.id',
    'context.dotted.name',
    'context.none',
  ]);
  expect(rows[0]).toMatchObject({
    date: asked.created_at.slice(0, 19).replace('T', ' '),
    agent: slug,
    merchant: 'Hetzner Online',
    description: 'A server for staging',
    task: 'Move staging,\nthen "test" it',
    requested_amount: '1234.56',
    authorized_amount: '1234.56',
    currency: 'EUR',
    decision: 'REVIEW',
    reason: 'Over the review threshold',
    explanation: asked.explanation,
    review_state: 'ALLOWED',
    reviewer: 'Ada Lovelace',
    review_reason: 'AMOUNT_IS_FINE',
    comment: `'=HYPERLINK("x")`,
    outcome: 'PARTIALLY_REFUNDED',
    paid_amount: '1234.00',
    refunded_amount: '4.00',
    reference: 'pi_1; re_1',
    decision_id: id,
    'context.cost_center': 'R&D-7',
    'context.order': '{"id":42,"lines":["a"]}',
    'context.order.id': '42',
    'context.dotted.name': 'true',
    'context.none': '',
  });
});

test('no cell is run by a spreadsheet, whatever the agent wrote, and no exponent is guessed', async () => {
  const slug = await makeAgent({ currency: 'JPY' });
  const action = { merchant: '+cmd', currency: 'JPY', description: '@SUM(1)' };
  await ask(slug, 1_200, { action, task: '-2+3', context: { a: '=1+1', b: -5 } });
  const { rows } = await table(`&agent=${slug}&context=a,b,__proto__,constructor`);
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatchObject({
    merchant: "'+cmd",
    description: "'@SUM(1)",
    task: "'-2+3",
    requested_amount: '1200',
    'context.a': "'=1+1",
    'context.b': '-5',
    'context.constructor': '',
  });
});

test("an agent's key gets its own decisions, and principals in place of names", async () => {
  const reviewer = (await makeKey(s, { scopes: ['review', 'read'], principal_id: 'user:bo' })).key;
  const slug = await makeAgent({ review_threshold_minor: 100 });
  const other = await makeAgent();
  const key = (await makeKey(s, { agent_id: slug })).key;
  const { decision_id } = await ask(slug, 500);
  await post(`/v1/decisions/${decision_id}/reviews`, { action: 'DENY', reason_code: 'NO' }, reviewer);
  await ask(other, 10);
  const { rows } = await table('', key);
  expect(rows.map(({ agent, reviewer: by }) => [agent, by])).toEqual([[slug, 'user:bo']]);
  expect((await table(`&agent=${other}`, await keyWith('read'))).rows).toHaveLength(1);
});

test.each([
  ['format=jsonl&audience=people', 'audience'],
  ['format=csv&audience=finance', 'audience'],
  ['format=csv&context=a', 'context'],
  ['format=csv&audience=people&context=', 'context'],
  ['format=csv&audience=people&context=a,,b', 'context'],
  [`format=csv&audience=people&context=${Array(21).fill('a').join()}`, 'context'],
  [`format=csv&audience=people&context=${'a'.repeat(65)}`, 'context'],
])('%s is refused by the name of the field', async (query, field) => {
  const reply = await s.call('GET', `/v1/decisions/export?${query}`);
  expect([...refusal(reply), fieldOf(reply)]).toEqual([400, 'invalid_request', field]);
});
