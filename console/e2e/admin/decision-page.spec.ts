import { expectAccessible, expectNoSidewaysScroll } from '../support/axe.ts';
import { startReceiver } from '../support/receiver.ts';
import { expect, test } from '../support/test.ts';
import type { Workspace } from '../support/workspace.ts';

/** A request that was reviewed, allowed, labelled and reported as executed by its agent: five entries of the history. */
async function wholeStory(workspace: Workspace): Promise<string> {
  const { call, agent, spend } = workspace;
  await agent();
  const { key } = await call('POST', '/v1/api-keys', { name: 'Production', agent_id: 'infra-bot' });
  const { decision_id } = await spend({ amount_minor: 24_900, description: "Bob's server for staging", key });
  const path = `/v1/decisions/${decision_id}`;
  await call('POST', `${path}/reviews`, { action: 'ALLOW', reason_code: 'WITHIN_PURPOSE' });
  await call('POST', `${path}/labels`, { label: 'PURPOSE_ALIGNED' });
  await call('POST', `${path}/labels`, { label: 'PURPOSE_UNCLEAR', comment: 'Whose ticket was it?' });
  const outcome = { type: 'SPEND_EXECUTED', amount_minor: 24_900 };
  await call('POST', `${path}/outcomes`, outcome, { 'x-api-key': key });
  return decision_id;
}

test('every ledger entry about a decision is recomputed in the browser', async ({ page, workspace }) => {
  const decision_id = await wholeStory(workspace);
  await page.goto(`/console/decisions/${decision_id}`);
  const card = page.getByRole('region', { name: 'In the ledger' });
  await expect(card).toContainText('all 5 hashes match');
  await expect(card.getByText('Hash matches')).toHaveCount(5);
  await expect(card.getByRole('listitem').first()).toContainText('Decision made');
  await expectAccessible(page, 'a decision with its whole story');
  await expectNoSidewaysScroll(page, 'a decision with its whole story');
});

test('an altered and a missing entry about a decision are reported', async ({ page, workspace }) => {
  const decision_id = await wholeStory(workspace);
  let is_gone = false;
  // The test cannot edit the database behind the service, so it fakes the response for an edited one.
  await page.route('**/v1/ledger/events?*', async (route) => {
    const answer = await (await route.fetch()).json();
    const is_review = ({ type }: { type: string }) => type === 'decision.review.recorded';
    const data = answer.data.flatMap((each: { type: string }) => {
      if (!is_review(each)) return [each];
      return is_gone ? [] : [{ ...each, occurred_at: '2026-01-01T00:00:00.000Z' }];
    });
    await route.fulfill({ json: { ...answer, data } });
  });
  await page.goto(`/console/decisions/${decision_id}`);
  const card = page.getByRole('region', { name: 'In the ledger' });
  const entry = card.getByRole('listitem').filter({ hasText: 'Review recorded' });
  await expect(entry).toContainText('Hash differs');
  const name = (await entry.getByRole('link').textContent()) as string;
  await expect(card.getByRole('alert')).toContainText(`The hash of ${name.toLowerCase()} does not match.`);
  await expect(card.getByText('Hash matches')).toHaveCount(4);
  await expectAccessible(page, 'a decision with an altered entry');
  is_gone = true;
  await page.reload();
  await expect(card.getByRole('alert')).toContainText('lacks some records');
  await expect(card.getByRole('alert')).toContainText(/rev_\w+/);
});

test('the history can be verified from a decision, its own entry included, with one click', async ({
  page,
  workspace,
}) => {
  const decision_id = await wholeStory(workspace);
  const { data } = await workspace.call('GET', `/v1/ledger/events?subject=${decision_id}`);
  await page.goto(`/console/decisions/${decision_id}`);
  const asked = page.waitForRequest(/\/v1\/ledger\/verify/);
  await page.getByRole('link', { name: 'Verify the history from here' }).click();
  expect(new URL((await asked).url()).searchParams.get('since')).toBe(String(data[0].seq - 1));
  await expect(page.getByRole('status').filter({ hasText: 'The history is valid.' })).toContainText(
    '5 entries were recomputed',
  );
  await expect(page.getByLabel('Only after entry')).toHaveValue(String(data[0].seq - 1));
});

test('a decision shows the webhooks about all its events', async ({ page, workspace }) => {
  const receiver = await startReceiver();
  try {
    await workspace.call('POST', '/v1/webhooks', { url: receiver.url });
    const decision_id = await wholeStory(workspace);
    await workspace.attempts(5);
    await page.goto(`/console/decisions/${decision_id}`);
    const sent = page.getByRole('list', { name: 'Webhooks sent' }).getByRole('listitem');
    await expect(sent).toHaveCount(5);
    for (const what of ['Decision made', 'Review recorded', 'Label recorded', 'Outcome recorded']) {
      await expect(sent.filter({ hasText: what }).first()).toContainText('Delivered');
    }
    await expectAccessible(page, 'a decision with webhooks');
  } finally {
    await receiver.stop();
  }
});

test('a decision shows the use of its capability and the reporter of each outcome', async ({
  page,
  workspace,
}) => {
  const { call, agent, spend } = workspace;
  await agent({ mode: 'ENFORCE' });
  const own = await call('POST', '/v1/api-keys', { name: 'Production', agent_id: 'infra-bot' });
  const rail = await call('POST', '/v1/api-keys', { name: 'Card processor', scopes: ['consume'] });
  const { decision_id, capability } = await spend({ amount_minor: 6_320, key: own.key });
  const as = ({ key }: { key: string }) => ({ 'x-api-key': key });
  await call(
    'POST',
    '/v1/capabilities/consume',
    { token: capability.token, amount_minor: 6_300, currency: 'EUR', external_reference: 'pi_3Nq7' },
    { ...as(rail), 'idempotency-key': `use-${decision_id}` },
  );
  const outcomes = `/v1/decisions/${decision_id}/outcomes`;
  await call('POST', outcomes, { type: 'SPEND_EXECUTED', amount_minor: 6_320 }, as(own));
  const corrected = { source: 'PAYMENT_RAIL', type: 'SPEND_EXECUTED', amount_minor: 6_300 };
  await call('POST', outcomes, corrected, as(rail));
  await page.goto(`/console/decisions/${decision_id}`);
  const used = page.getByRole('region', { name: 'Capability' });
  await expect(used).toContainText('Payment adapter key “Card processor”');
  await expect(used).toContainText('EUR 63.00');
  await expect(used).toContainText('pi_3Nq7');
  const reported = page.getByRole('region', { name: 'Outcomes' });
  const agents_word = reported.getByRole('row', { name: /EUR 63\.20/ });
  await expect(agents_word).toContainText('Agent key “Production”');
  await expect(agents_word).toContainText('The requester');
  const rails_word = reported.getByRole('row', { name: /EUR 63\.00/ });
  await expect(rails_word).toContainText('The payment rail');
  await expect(rails_word).toContainText('Card processor');
  await expectAccessible(page, 'a decision whose capability was used');
});

test('the copied JSON repeats the request when sent', async ({ page, workspace, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const decision_id = await wholeStory(workspace);
  await page.goto(`/console/decisions/${decision_id}`);
  await page.getByRole('button', { name: 'Copy the request as JSON' }).click();
  await expect(page.getByRole('button', { name: 'Copy the request as JSON' })).toHaveText('Copied');
  const body = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
  const asked = await workspace.call('POST', '/v1/decisions', body, { 'idempotency-key': 'copied' });
  const first = await workspace.call('GET', `/v1/decisions/${decision_id}`);
  expect(asked.action).toEqual(first.action);
  expect(asked.decision_id).not.toBe(decision_id);
  await page.getByText('As a curl command').click();
  await expect(page.getByRole('region', { name: 'the request as curl' })).toContainText('curl -s');
});
