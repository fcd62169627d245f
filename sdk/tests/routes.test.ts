import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { renderOpenApi } from '../../server/src/documents.ts';
import { Purser } from '../src/index.ts';
import { ANSWER, success } from './answers.ts';
import { AUTHORITY, type RunningService, startTestService } from './service.ts';

let s: RunningService;
let purser: Purser;
beforeAll(async () => {
  s = await startTestService();
  purser = new Purser({ apiKey: s.admin_key, baseURL: s.url });
});
afterAll(() => s.stop());

/** Every method of every resource, by its name on the client. */
function methodsOf(resource: object, name: string): [string, (...given: unknown[]) => Promise<unknown>][] {
  const own = Object.getOwnPropertyNames(Object.getPrototypeOf(resource)).filter(
    (each) => each !== 'constructor',
  );
  const nested = Object.entries(resource).flatMap(([key, value]) =>
    methodsOf(value as object, `${name}.${key}`),
  );
  return [...own.map((method) => [`${name}.${method}`, (resource as never)[method]] as never), ...nested].map(
    ([full, method]) => [full as string, (method as () => Promise<unknown>).bind(resource)],
  );
}

/** The door is for pages, where somebody types what is sent; and payment rails send events by themselves. */
const OF_OTHERS = /^\/v1\/(auth\/|rails\/\{id\}\/events$)/;

test('there is one method for every route of the API but the door, and none beside', async () => {
  const sent = new Set<string>();
  let name = '';
  const fetch = vi.fn(async (url: string, init: RequestInit) => {
    const path = new URL(url).pathname
      .replace(/the-id/, name.startsWith('members.') ? '{user_id}' : '{id}')
      .replace(/\/7$/, '/{seq}')
      .replace(/rail%3Athe-instrument/, '{instrument}')
      .replace(/the-entry/, '{entry_id}')
      .replace(/the-question/, '{question_id}')
      .replace(/the-link/, '{link_id}');
    sent.add(`${init.method} ${path}`);
    return success(init, { ...ANSWER, id: 'alw_1' });
  });
  const client = new Purser({ apiKey: 'sk_test', fetch: fetch as never });
  const methods = Object.entries(client).flatMap(([name, resource]) => methodsOf(resource as object, name));
  for (const [full, method] of methods) {
    name = full;
    const before = sent.size;
    if (name === 'capabilities.consume') await method({}, { idempotencyKey: 'a' });
    else if (/^agents\.(merchants\.list|questions\.list|limits)$/.test(name)) await method('the-id');
    else if (name === 'imports.detect') await method({ data: '{}', type: 'application/json' });
    else if (name === 'imports.putContent') await method('the-id', { data: '{}', type: 'application/json' });
    else if (name === 'history.listAnomalies' || /^reports\.allowances(Csv)?$/.test(name)) await method();
    else if (/^history\.(replay|propose)$/.test(name)) await method({});
    else if (name === 'instruments.assign') await method('rail:the-instrument', { agent: null });
    else if (name === 'decisions.links.list' || name === 'decisions.page') await method('the-id');
    else if (/^decisions\.links\.(retrieve|delete)$/.test(name)) await method('the-id', 'the-link');
    else if (name === 'agents.questions.answer') await method('the-id', 'the-question', {});
    else if (name === 'agents.questions.forget') await method('the-id', 'the-question');
    else if (name === 'agents.questions.pending') await method();
    else if (name === 'agents.merchants.delete') await method('the-id', 'the-entry');
    else if (
      /^(workspace|changes|inbox|reviewPolicy)\.retrieve$|^workspace\.(resume|createSample|removeSample)$|^me\.(endAway|notifications|slack|unlinkSlack)$|^reviewPolicy\.versions$/.test(
        name,
      ) ||
      /\.(list|shadow|shadowCsv|csv|overview|spending|coverage|coverageCsv|events|eventsCsv|checkpoints|verify|export|listSessions|endOtherSessions|listPasskeys)$|^reports\.allowances(Csv)?$|^me\.retrieve$|^apiKeys\.current$|^signingKeys\.begin$/.test(
        name,
      )
    )
      await method();
    else if (name === 'ledger.event') await method(7);
    else if (name === 'decisions.retrieveChanged') await method('the-id', 1);
    else if (
      /^(decisions|agents|apiKeys|webhookEndpoints|invitations|imports|rails)\.create$|^(me|workspace)\.update$|^workspace\.stop$|^me\.(switchWorkspace|setAway|updateNotifications|readSlackCode|linkSlack)$|^reviewPolicy\.put$|^signingKeys\.(enrol|beginReviewPolicy)$/.test(
        name,
      )
    )
      await method({});
    else
      await method(
        'the-id',
        /\.(retrieve|sheet|delete|test|list\w+|suggestions|endSession|deletePasskey|agentBurnDown|budgetBurnDown|beginEndorsement)$/.test(
          name,
        )
          ? undefined
          : {},
      );
    // The same route in another form.
    const is_form =
      /^(decisions\.retrieveChanged|reports\.(shadow|allowances|coverage)Csv|audit\.csv|ledger\.eventsCsv)$/.test(
        name,
      );
    expect(sent.size - before, `${name} is a route of its own`).toBe(is_form ? 0 : 1);
  }
  const declared = Object.entries(renderOpenApi().paths)
    .filter(([path]) => path.startsWith('/v1/') && !OF_OTHERS.test(path))
    .flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
  expect([...sent].sort()).toEqual(declared.sort());
});

test('lists can be walked over as one, page by page, or as the first page', async () => {
  for (let i = 0; i < 5; i++) await purser.apiKeys.create({ name: `k${i}`, scopes: ['read'] });
  const all: string[] = [];
  for await (const key of purser.apiKeys.list({ limit: 2 })) all.push(key.name);
  expect(all).toHaveLength(6);
  const first = await purser.apiKeys.list({ limit: 2 });
  expect([first.data.length, first.hasNextPage()]).toEqual([2, true]);
  const second = await first.getNextPage();
  expect([...first.data, ...second.data].map((key) => key.name)).toEqual(all.slice(0, 4));
  const from_page: string[] = [];
  for await (const key of first) from_page.push(key.name);
  expect(from_page).toEqual(all);
  const last = await (await second.getNextPage()).getNextPage().catch((error: unknown) => error);
  expect(last).toBeInstanceOf(RangeError);
  for await (const key of purser.apiKeys.list({ limit: 2 })) {
    expect(key.name).toBe(all[0]);
    break;
  }
});

test('an administrator’s day: agent, authority, simulation, keys, report, ledger, audit', async () => {
  const agent = await purser.agents.create({ slug: 'staging-bot', authority: AUTHORITY });
  const limits = { ...AUTHORITY, per_transaction_limit_minor: 1_000 };
  expect((await purser.agents.authority.set('staging-bot', limits)).version).toBe(2);
  expect((await purser.agents.authority.retrieve(agent.id, { version: 1 })).authority).toEqual(AUTHORITY);
  expect((await purser.agents.authority.simulate('staging-bot', AUTHORITY, { limit: 10 })).saved).toBe(false);
  const reading = await purser.authority.reading(limits);
  expect(reading.examples).toHaveLength(10);
  expect(await purser.agents.authority.reading('staging-bot')).toEqual(reading);
  const action = { type: 'purchase', merchant: 'Hetzner Online', amount_minor: 1_001, currency: 'EUR' };
  const tested = await purser.authority.test({
    authority: limits,
    steps: [{ at: '2026-11-21T08:30:00Z', decide: { action }, expect: { decision: 'DENY' } }],
  });
  expect([tested.passed, tested.steps[0]?.verdict?.decision]).toEqual([true, 'DENY']);
  expect((await purser.agents.update('staging-bot', { status: 'paused' })).status).toBe('paused');
  const { id, key } = await purser.apiKeys.create({ name: 'bot', agent_id: agent.id });
  expect((await purser.withOptions({ apiKey: key }).agents.retrieve(agent.id)).slug).toBe('staging-bot');
  expect(await purser.apiKeys.delete(id)).toBeUndefined();
  expect((await purser.workspace.retrieve()).plan).toBe('team');
  expect((await purser.reports.shadow()).readiness).toBeDefined();
  expect((await purser.ledger.verify()).valid).toBe(true);
  const exported = await (await purser.ledger.export()).text();
  const events = await purser.ledger.events({ limit: 200 });
  expect(exported.split('\n').length).toBeGreaterThan(events.data.length);
  const first = await purser.ledger.event(1);
  expect(first.type).toBe('workspace.created');
  expect((await purser.ledger.events({ type: ['workspace.created', 'plan.changed'] })).data).toEqual([first]);
  expect((await purser.ledger.checkpoints({ limit: 1 })).data.length).toBeLessThanOrEqual(1);
  expect(await (await purser.reports.shadowCsv()).text()).toMatch(/^section,/);
  const csv = await (await purser.audit.csv({ action: 'agent.updated' })).text();
  expect(csv.split('\n')).toHaveLength(3);
  const entries = await (await purser.ledger.eventsCsv({ type: ['workspace.created'] })).text();
  expect(entries).toContain(first.hash);
  expect((await purser.reports.overview()).pending_reviews.count).toBe(0);
  expect((await purser.changes.retrieve()).seq).toBeGreaterThan(3);
  expect((await purser.workspace.update({ name: 'Renamed' })).name).toBe('Renamed');
  const { hash } = await purser.agents.authority.retrieve('staging-bot');
  const next = { ...limits, note: 'Once more.' };
  expect((await purser.agents.authority.set(agent.id, next, { ifMatch: hash })).note).toBe('Once more.');
  const stale = purser.agents.authority.set(agent.id, AUTHORITY, { ifMatch: `sha256:${'0'.repeat(64)}` });
  await expect(stale).rejects.toMatchObject({ code: 'authority_changed' });
  expect((await purser.agents.authority.listVersions(agent.id)).data.map((each) => each.version)).toEqual([
    3, 2, 1,
  ]);
  const { merchants } = purser.agents;
  const paper = { merchant: 'Paper Mill', verdict: 'ALLOWED' as const };
  const { data: listed } = await merchants.add(agent.id, { entries: [paper] });
  expect((await merchants.add(agent.id, { entries: [paper] })).data).toEqual(listed);
  expect((await merchants.list('staging-bot')).data).toEqual(listed);
  expect((await merchants.suggestions(agent.id)).data).toEqual([]);
  expect(await merchants.delete(agent.id, listed[0]?.entry_id as string)).toBeUndefined();
  expect((await merchants.list(agent.id)).data).toEqual([]);
  const actions: string[] = [];
  for await (const record of purser.audit.list({ limit: 3 })) actions.push(record.action);
  expect(actions).toContain('api_key.revoked');
});

test('an endpoint’s life: made, changed, tested, listed, its secret rotated, removed', async () => {
  const made = await purser.webhookEndpoints.create({ url: 'https://hooks.example/purser' });
  expect(made.secret).toMatch(/^whsec_/);
  expect((await purser.webhookEndpoints.list()).data.map((each) => each.id)).toEqual([made.id]);
  const { secret } = await purser.webhookEndpoints.rotateSecret(made.id);
  expect(secret).not.toBe(made.secret);
  expect((await purser.webhookEndpoints.test(made.id)).event_id).toMatch(/^evt_/);
  expect(await purser.webhookDeliveries.replay(made.id, { from: '2026-01-01' })).toHaveProperty('queued');
  expect((await purser.webhookDeliveries.list({ endpoint: made.id })).next_cursor).toBeNull();
  expect((await purser.webhookEndpoints.update(made.id, { status: 'disabled' })).status).toBe('disabled');
  expect(await purser.webhookEndpoints.delete(made.id)).toBeUndefined();
});
