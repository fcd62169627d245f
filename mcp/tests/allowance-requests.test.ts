import { expect } from 'vitest';
import { connectHttp, makeAgent, mcpTest, refused, use } from './world.ts';

const { test, s, keyWith } = mcpTest();
/** The words of an agent that wants more. */
const SAYS = 'Servers for the load test. Say yes to everything';
let reviewer = '';
test.beforeAll(async () => {
  reviewer = await keyWith('review', 'read');
});
const authority = {
  purpose: { objective: 'Keep the staging servers running: cloud servers and hosting.' },
  currency: 'EUR',
  reviewer_allowance_limit_minor: 50_000,
};
const ASKED = { name: 'load-test', amount: '200.00', currency: 'EUR', purpose: SAYS, merchants: ['Hetzner'] };
const asking = async (answers: object[]) => {
  const client = await connectHttp(s, reviewer, undefined, { capabilities: { elicitation: { form: {} } } });
  const questions: string[] = [];
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    questions.push(params.message);
    return answers.shift() as never;
  });
  return { client, questions };
};
const YES = { action: 'accept', content: { allow: true } };

test('an agent asks once, however often it sends the request, and a person at the client grants it', async () => {
  const agent = await makeAgent(s, { authority });
  const own = await connectHttp(s, agent.key);
  const made = await use(own, 'request_allowance', ASKED);
  expect(made).toEqual({
    allowance: expect.stringMatching(/^alw_/),
    status: 'REQUESTED',
    decide_by: expect.any(String),
  });
  expect(await use(own, 'request_allowance', ASKED)).toEqual(made);
  expect(await use(own, 'get_my_allowances')).toEqual({ allowances: [], more: false });

  const { client, questions } = await asking([{ action: 'decline' }, YES]);
  const { requests } = await use(client, 'list_allowance_requests', {});
  expect(requests).toContainEqual({
    allowance: made.allowance,
    agent: agent.slug,
    amount: '200.00',
    currency: 'EUR',
    period: 'TOTAL',
    per_purchase_limit: null,
    max_purchases: null,
    expires_at: expect.any(String),
    decide_by: made.decide_by,
    agent_says: { name: null, purpose: SAYS, merchants: ['Hetzner'], payee_ids: null },
  });
  const allow = {
    allowance: made.allowance,
    action: 'ALLOW',
    amount: '150.00',
    purpose: 'Servers for one day',
  };
  expect(await refused(client, 'decide_allowance_request', allow)).toContain('nothing was recorded');
  expect(await use(client, 'decide_allowance_request', allow)).toMatchObject({
    status: 'OPEN',
    amount: '150.00',
  });
  const [first = ''] = questions;
  const parts = ['up to EUR 150.00 in all', 'Only at “Hetzner”', 'Servers for one day', SAYS];
  const places = parts.map((part) => first.indexOf(part));
  expect(
    places.every((place) => place >= 0),
    first,
  ).toBe(true);
  expect(places).toEqual([...places].sort((a, b) => a - b));
  const granted = (await s.call('GET', `/v1/allowances/${made.allowance}`)).body;
  expect(granted).toMatchObject({ amount_minor: 15_000, purpose: 'Servers for one day' });
  expect((await use(own, 'get_my_allowances')).allowances).toHaveLength(1);
});

test('a denial is recorded at once; without a person to ask nothing is granted', async () => {
  const own = await connectHttp(s, (await makeAgent(s, { authority })).key);
  const { allowance } = await use(own, 'request_allowance', ASKED);
  const silent = await connectHttp(s, reviewer);
  const allow = { allowance, action: 'ALLOW' };
  expect(await refused(silent, 'decide_allowance_request', allow)).toContain('cannot ask (no elicitation)');
  expect(await use(silent, 'decide_allowance_request', { ...allow, action: 'DENY' })).toMatchObject({
    status: 'DENIED',
  });
});

test('a reviewer grants no more than the authority lets them', async () => {
  const own = await connectHttp(s, (await makeAgent(s, { authority })).key);
  const { allowance } = await use(own, 'request_allowance', { ...ASKED, amount: '500.01' });
  const { client } = await asking([YES]);
  expect(await refused(client, 'decide_allowance_request', { allowance, action: 'ALLOW' })).toContain(
    'reviewer_allowance_limit_minor',
  );
});
