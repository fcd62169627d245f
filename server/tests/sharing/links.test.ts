import { expect } from 'vitest';
import { openBrowser, PASSWORD, setUp } from '../support/browser.ts';
import { fieldOf, freshKey, makeKey, refusal } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const log_lines: string[] = [];
const { test, s, ask, get, post, makeAgent, keyWith } = serviceTest({ plan: 'enterprise', log_lines });

const DAY = 86_400;
let slug: string;
test.beforeAll(async () => {
  slug = await makeAgent({ review_threshold_minor: 1_000, monthly_budget_minor: 500_000 });
});

const linksOf = (id: string) => `/v1/decisions/${id}/links`;
const share = (id: string, key?: string) => post(linksOf(id), { expires_in_seconds: DAY }, key);
async function open(url: string) {
  const reply = await fetch(url, { redirect: 'manual' });
  return { status: reply.status, headers: reply.headers, text: await reply.text() };
}

test('anyone who has the link sees the decision, who shared it and until when, and nothing else of the workspace', async () => {
  const ada = await setUp(s, { name: 'Ada Lovelace' });
  const other = await ask(slug, 20, { action: { merchant: 'Somebody Else' } });
  const { decision_id } = await ask(slug, 5_440, {
    action: { merchant: '<script>alert(1)</script> & Co', description: '"><img src=x>\u202egnp' },
    task: 'Set up <b>staging</b>',
    context: { secret: 'cost-center-9' },
  });
  const review = { action: 'ALLOW', reason_code: 'AMOUNT_IS_FINE', comment: 'Agreed <i>today</i>' };
  await ada.call('POST', `/v1/decisions/${decision_id}/reviews`, { body: review });
  const made = await ada.call('POST', linksOf(decision_id), { body: { expires_in_seconds: DAY } });
  expect(made.status, made.text).toBe(201);
  expect(Object.keys(made.body).sort()).toEqual(['expires_at', 'link_id', 'url']);
  const { text, headers, status } = await open(made.body.url);
  expect(status).toBe(200);
  expect(text).toContain('Shared by <strong>Ada Lovelace</strong>');
  expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt; &amp; Co, EUR 54.40');
  expect(text).toContain('Set up &lt;b&gt;staging&lt;/b&gt;');
  expect(text).toContain('Agreed &lt;i&gt;today&lt;/i&gt;');
  expect(text).toContain('AMOUNT_IS_FINE');
  expect(text).toContain('Keep the staging servers running');
  expect(text).toMatch(/Ledger entry<\/dt><dd>\d+</);
  expect(text.match(/sha256:[0-9a-f]{64}/g)?.length).toBeGreaterThanOrEqual(4);
  for (const foreign of [
    '<script',
    '<img',
    '\u202e',
    'cost-center-9',
    'ada@example.com',
    'Somebody Else',
    other.decision_id,
  ])
    expect(text).not.toContain(foreign);
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(headers.get('x-robots-tag')).toContain('noindex');
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
  expect(headers.get('set-cookie')).toBeNull();
});

test('the token is shown once and is in no row, list, record or line of the log', async () => {
  const { decision_id } = await ask(slug, 10);
  const { url, link_id } = await share(decision_id);
  await open(url);
  const token = url.slice(url.lastIndexOf('/') + 1);
  const secret = token.slice(-43);
  const listed = await get(linksOf(decision_id));
  expect(listed).toMatchObject({
    data: [{ link_id, decision_id, status: 'active', revoked_at: null }],
    next_cursor: null,
  });
  expect(await get(`${linksOf(decision_id)}/${link_id}`)).toEqual(listed.data[0]);
  const { data: audit } = await get('/v1/audit?action=decision_link.created');
  expect(audit[0]).toMatchObject({ target: { type: 'decision_link', id: link_id } });
  const { rows } = await s.sql('select to_jsonb(l) as row from decision_links l');
  const { rows: records } = await s.sql('select to_jsonb(a) as row from audit_records a');
  for (const text of [JSON.stringify([listed, audit, rows, records]), log_lines.join('')])
    expect(text).not.toContain(secret);
  expect(log_lines.join('')).toContain('/shared/:token');
});

test('a link ends when it is revoked or expires, and one that does not open says nothing of why', async () => {
  const { decision_id } = await ask(slug, 10);
  const [revoked, expired, kept] = [
    await share(decision_id),
    await share(decision_id),
    await share(decision_id),
  ];
  const path = `${linksOf(decision_id)}/${revoked.link_id}`;
  expect((await s.call('DELETE', path)).status).toBe(204);
  expect((await s.call('DELETE', path)).status).toBe(204);
  await s.sql("update decision_links set expires_at = now() - interval '1 second' where link_id = $1", [
    expired.link_id,
  ]);
  const { data } = await get(linksOf(decision_id));
  expect(data.map(({ status }: { status: string }) => status)).toEqual(['active', 'expired', 'revoked']);
  const altered = `${kept.url.slice(0, -1)}${kept.url.endsWith('A') ? 'B' : 'A'}`;
  const answers = await Promise.all([revoked.url, expired.url, altered, `${s.url}/shared/x`].map(open));
  for (const { status, text, headers } of answers) {
    expect([status, headers.get('x-robots-tag'), headers.get('cache-control')]).toEqual([
      404,
      'noindex, nofollow, noarchive',
      'no-store',
    ]);
    expect(text).toBe(answers[0]?.text);
  }
  expect((await open(kept.url)).status).toBe(200);
  const { data: audit } = await get('/v1/audit?action=decision_link.revoked');
  expect(audit).toHaveLength(1);
});

test('a link ends with the key that made it, and with the membership of the person', async () => {
  const { decision_id } = await ask(slug, 10);
  const made = await makeKey(s, { scopes: ['review', 'read'], principal_id: 'user:auditor' });
  const by_key = await share(decision_id, made.key);
  expect((await open(by_key.url)).text).toContain('user:auditor, with the API key “made for a test”');
  await s.call('DELETE', `/v1/api-keys/${made.id}`);
  expect((await open(by_key.url)).status).toBe(404);
  const email = `${freshKey()}@example.com`;
  const { url } = await post('/v1/invitations', { email, role: 'reviewer' });
  const bob = openBrowser(s);
  const joined = await bob.call('POST', '/v1/auth/invitations/accept', {
    body: { token: url.split('#')[1], name: 'Bob', password: PASSWORD },
  });
  const by_person = (await bob.call('POST', linksOf(decision_id), { body: { expires_in_seconds: DAY } }))
    .body;
  expect((await open(by_person.url)).text).toContain('Shared by <strong>Bob</strong>');
  const member = `/v1/members/${joined.body.user.id}`;
  await s.call('PATCH', member, { body: { role: 'viewer' } });
  expect((await open(by_person.url)).status).toBe(404);
  const { data } = await get(linksOf(decision_id));
  expect(data.map(({ status }: { status: string }) => status)).toEqual(['ended', 'ended']);
});

test.each([[3_599], [2_592_001], [undefined], ['3600'], [3_600.5]])(
  'a life of %s seconds is refused by the name of the field',
  async (expires_in_seconds) => {
    const { decision_id } = await ask(slug, 10);
    const reply = await s.call('POST', linksOf(decision_id), { body: { expires_in_seconds } });
    expect([...refusal(reply), fieldOf(reply)]).toEqual([400, 'invalid_request', 'expires_in_seconds']);
  },
);

test('only who may review makes, sees and revokes links', async () => {
  const { decision_id } = await ask(slug, 10);
  const { link_id } = await share(decision_id);
  const key = await keyWith('read');
  for (const [method, path] of [
    ['POST', linksOf(decision_id)],
    ['GET', linksOf(decision_id)],
    ['GET', `${linksOf(decision_id)}/${link_id}`],
    ['DELETE', `${linksOf(decision_id)}/${link_id}`],
  ] as const) {
    const body = method === 'POST' ? { body: { expires_in_seconds: DAY } } : {};
    expect(refusal(await s.call(method, path, { key, ...body }))).toEqual([403, 'insufficient_scope']);
  }
  const other = await ask(slug, 10);
  const crossed = `${linksOf(other.decision_id)}/${link_id}`;
  expect(refusal(await s.call('GET', crossed))).toEqual([404, 'not_found']);
  expect(refusal(await s.call('DELETE', crossed))).toEqual([404, 'not_found']);
});

test('the workspace’s own page is the same without who shared it, and an unknown decision has none', async () => {
  const { decision_id } = await ask(slug, 10);
  const reply = await s.call('GET', `/v1/decisions/${decision_id}/page`, { key: await keyWith('read') });
  expect(reply.status).toBe(200);
  expect(reply.text).toContain(decision_id);
  expect(reply.text).not.toContain('Shared by');
  const none = await s.call('GET', '/v1/decisions/dec_00000000000000000000000000/page');
  expect(refusal(none)).toEqual([404, 'not_found']);
});

test('links are part of the history, so an expiry that somebody moved is found', async () => {
  const { breaks } = await get('/v1/ledger/verify');
  expect(breaks.map(({ detail }: { detail: string }) => detail)).toEqual([
    expect.stringMatching(/^The row of decision_link lnk_\w+ differs from event \d+\.$/),
  ]);
});
