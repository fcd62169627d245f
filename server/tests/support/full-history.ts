import type { QuestionKind } from '@purser/contract/purpose/questions';
import type { PostgresConnection } from '@purser/embedded-postgres';
import { OPERATOR, SYSTEM } from '@purser/rules/domain/audit';
import { HISTORY_NAMES as names } from '@purser/rules/purpose/history';
import {
  stripeAuthorization,
  stripeEvent,
  stripeTransaction,
} from '../../../packages/rail-events/tests/vendor-objects.ts';
import { reportUnmatched } from '../../src/engine/commands/matching/report-unmatched.ts';
import { setPlan } from '../../src/engine/commands/set-plan.ts';
import { aggregateFeedback } from '../../src/engine/feedback/aggregate-feedback.ts';
import { followNext, type SkippedEvent } from '../../src/engine/followers/follow-chains.ts';
import { getWatermark } from '../../src/engine/followers/follower-rows.ts';
import { followLines } from '../../src/engine/matching/follow-lines.ts';
import { type VerifyOptions, verifyLedger } from '../../src/engine/verification/verify-ledger.ts';
import type { Core } from '../../src/service/installation/runtime.ts';
import { slackCodesOf } from '../../src/service/slack/slack-parts.ts';
import { makeRailSender } from '../history/rail-sender.ts';
import { CSV_MAPPING } from '../history/sender.ts';
import { openBrowser, PASSWORD, setUp } from './browser.ts';
import { ap2Mandate, inAll, mandateKey, REFERENCE, range, withBinding } from './mandates.ts';
import { makeAsker } from './questions.ts';
import {
  AUTHORITY,
  freshKey,
  makeTestCore,
  type RunningService,
  spend,
  startTestService,
} from './running-service.ts';
import { issuerKey, signedAllowance } from './signed-allowances.ts';
import { addPasskey, endorse, enrol, signReview } from './signers.ts';
import { until } from './until.ts';

/** A workspace in which everything happened that can happen, and nothing does any more: no worker runs. */
export interface FullHistory {
  core: Core;
  workspace_id: string;
  checkpoint_dir: string;
  /** Where the chain stood when it was half as long and signed, and where it ends. */
  middle_seq: number;
  last_seq: number;
  sql: RunningService['sql'];
  /** As the role that owns the database. */
  connection: PostgresConnection;
  verify(options?: Partial<VerifyOptions>, workspace_id?: string): ReturnType<typeof verifyLedger>;
  stop(): Promise<void>;
}

const AUTHORITIES = {
  shadow: {
    ...AUTHORITY,
    per_transaction_limit_minor: 5_000,
    review_threshold_minor: 1_000,
    monthly_budget_minor: 1_000_000,
    blocked_merchants: ['Evil Hosting'],
  },
  enforce: {
    ...AUTHORITY,
    review_threshold_minor: 1_000,
    monthly_budget_minor: 1_000_000,
    velocity_limits: [
      { name: 'month', window: 'ROLLING', window_seconds: 2_678_400, limit_amount_minor: 1_000_000 },
      { name: 'shop', window: 'ROLLING', window_seconds: 86_400, per: 'MERCHANT', limit_count: 1_000 },
    ],
    duplicate_window_seconds: 604_800,
    budgets: ['team'],
  },
};

/**
 * Makes the history over HTTP: reviews and corrected ones, labels, outcomes of both sources (late, over the limit,
 * contradicted, refunded), capabilities consumed and run out, holds that ran out and such that will, and every
 * administrative change. `atMiddle` is called when the first half has been signed.
 */
export async function makeFullHistory(atMiddle?: (s: RunningService) => Promise<void>): Promise<FullHistory> {
  const s = await startTestService({ plan: 'team' });
  const hasty = await startTestService({
    beside: s,
    env: { REVIEW_TTL_SECONDS: '1', CAPABILITY_TTL_SECONDS: '1' },
  });
  const core = makeTestCore(s.database.connection, s.checkpoint_dir);
  const { workspace_id } = s;
  const ok = async (on: RunningService, method: string, path: string, body: unknown, key = s.admin_key) => {
    const keyed = path === '/v1/decisions' || path.endsWith('/consume');
    const reply = await on.call(method, path, {
      body,
      key,
      ...(keyed ? { idempotency_key: freshKey() } : {}),
    });
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.text}`);
    return reply.body;
  };
  const post = (path: string, body: unknown, key?: string) => ok(s, 'POST', path, body, key);
  const key = async (body: object) => (await post('/v1/api-keys', { name: 'k', ...body })).key as string;
  const lastSeq = async () =>
    Number((await s.sql('select seq from ledger_heads where workspace_id = $1', [workspace_id])).rows[0].seq);

  await core.lane.submit(
    workspace_id,
    setPlan,
    { plan: 'enterprise' },
    { actor: OPERATOR, request_id: null, client_address: null },
  );
  const budget = { currency: 'EUR', period: 'TOTAL', limit_minor: 1_000_000 };
  await post('/v1/budgets', { ...budget, slug: 'company', name: 'Company' });
  await post('/v1/budgets', { ...budget, slug: 'team', period: 'YEAR', parent: 'company' });
  await post('/v1/budgets', { ...budget, slug: 'old' });
  await ok(s, 'PATCH', '/v1/budgets/old', { status: 'frozen', limit_minor: 500 });
  await post('/v1/agents', { slug: 'shadow', authority: AUTHORITIES.shadow });
  await post('/v1/agents', { slug: 'enforce', mode: 'ENFORCE', authority: AUTHORITIES.enforce });
  // One spend brings its budget and its month to a threshold.
  await post('/v1/budgets', { ...budget, slug: 'small', limit_minor: 100 });
  await post('/v1/agents', {
    slug: 'few',
    authority: { ...AUTHORITIES.shadow, budgets: ['small'], monthly_budget_minor: 100, alert_percents: [80] },
  });
  const few = await ok(s, 'POST', '/v1/decisions', spend('few', 85));
  // Allowances: one with a part that is spent under, one that was revoked. Keys of labels may be those of marks in documents.
  const cap = {
    agent: 'few',
    currency: 'EUR',
    amount_minor: 1_000,
    expires_at: new Date(Date.parse(few.created_at) + 30 * 86_400_000).toISOString(),
  };
  const labels = { explanation: 'c "42" 💶', action: 'x' };
  const above = await post('/v1/allowances', {
    ...cap,
    external_id: 'run-17',
    name: 'Nightly "run"',
    labels,
    purpose: 'CI',
    key: true,
  });
  const below = await post('/v1/allowances', {
    parent: above.id,
    amount_minor: 500,
    period: 'MONTH',
    max_count: 5,
  });
  await ok(s, 'POST', '/v1/decisions', { ...spend('few', 5), allowance: below.id });
  // The key of an allowance makes a part of it with a key of its own, and spends.
  const { api_key: bound } = await ok(
    s,
    'POST',
    '/v1/allowances',
    { parent: below.id, amount_minor: 50, key: true },
    above.api_key.key,
  );
  await ok(s, 'POST', '/v1/decisions', spend(undefined, 4), bound.key);
  // A request that was granted, and a standing approval, which answered.
  const judge = await key({ scopes: ['review', 'admin'] });
  const asked = await post('/v1/allowances/request', { ...cap, purpose: 'A load test' });
  await ok(s, 'POST', `/v1/allowances/${asked.id}/decide`, { action: 'ALLOW', purpose: 'A test' }, judge);
  await post('/v1/allowances', {
    ...cap,
    automatic: true,
    merchants: ['A shop of nobody'],
    answers: ['REVIEW_THRESHOLD_EXCEEDED', 'PURPOSE_UNCLEAR'],
  });
  await ok(s, 'POST', '/v1/decisions', spend('few', 3, { action: { merchant: 'A shop of nobody' } }));
  const { id: ended } = await post('/v1/allowances', cap);
  await s.call('POST', `/v1/allowances/${ended}/revoke`, { body: { reason: 'Done' } });
  // Issuers of signed allowances: one that issued a part, one that was revoked.
  const pair = issuerKey();
  const issuing = { name: 'Builds', jwk: pair.jwk, currency: 'EUR', max_amount_minor: 500 };
  const issuer = await post('/v1/allowance-issuers', { ...issuing, parent: above.id });
  const signed = signedAllowance(pair.privateKey, issuer.id, s.workspace_id, { amount_minor: 50 });
  await post('/v1/allowances/present', { signed });
  const withdrawn = await post('/v1/allowance-issuers', { ...issuing, agents: ['few'] });
  await s.call('DELETE', `/v1/allowance-issuers/${withdrawn.id}`);
  // A mandate that recurs: all of it, and its part for each month.
  const payers = mandateKey();
  const of_agent = mandateKey();
  await post('/v1/allowance-issuers', { ...issuing, format: 'AP2', jwk: payers.jwk });
  const monthly = { type: 'payment.agent_recurrence', frequency: 'MONTHLY', max_occurrences: 3 };
  const constraints = [range(40, 'EUR'), inAll(1, 'EUR'), monthly, REFERENCE];
  const own_key = await key({ agent_id: 'few' });
  const binding = { aud: s.workspace_id, by: of_agent };
  const mandate = withBinding(ap2Mandate(payers, of_agent, { constraints }).text, binding);
  const of_payer = await ok(s, 'POST', '/v1/allowances/present', { signed: mandate }, own_key);
  await ok(s, 'POST', '/v1/decisions', { ...spend('few', 2), allowance: of_payer.id });
  // A limit joins while the money is held, and counts what becomes of it.
  await post('/v1/agents/few/authority', {
    ...AUTHORITIES.shadow,
    budgets: ['small'],
    velocity_limits: [
      { name: 'month', window: 'ROLLING', window_seconds: 2_678_400, limit_amount_minor: 1_000 },
    ],
  });
  await post(`/v1/decisions/${few.decision_id}/outcomes`, { type: 'SPEND_EXECUTED', amount_minor: 80 });
  await post('/v1/agents', { slug: 'bare' });
  await post('/v1/agents/shadow/authority', { ...AUTHORITIES.shadow, monthly_budget_minor: 2_000_000 });
  await ok(s, 'PATCH', '/v1/agents/bare', { status: 'paused', name: 'Bare' });
  // Merchants listed: one that holds with its payees, one that was unlisted.
  const { data: listed } = await post('/v1/agents/shadow/merchants', {
    entries: [
      { merchant: 'Zeitz Hosting', payee_ids: ['sepa:DE2', 'sepa:DE1'], verdict: 'ALLOWED', note: 'Known' },
      { merchant: 'Evil Cloud "quoted" 💶', verdict: 'BLOCKED' },
    ],
  });
  await s.call('DELETE', `/v1/agents/shadow/merchants/${listed[1].entry_id}`);
  const agent = await key({ agent_id: 'enforce' });
  const adapter = await key({ scopes: ['consume'] });
  const reviewer = await key({ scopes: ['review', 'read'], principal_id: 'user:ann' });
  await post('/v1/api-keys', { name: 'short', scopes: ['read'], expires_in_seconds: 600 });
  // Links of a decision: one that opens, and one that was revoked.
  for (const end of [false, true]) {
    const links = `/v1/decisions/${few.decision_id}/links`;
    const { link_id } = await post(links, { expires_in_seconds: 3_600 });
    if (end) await s.call('DELETE', `${links}/${link_id}`);
  }
  const { id: revoked } = await post('/v1/api-keys', { name: 'revoked', scopes: ['read'] });
  await s.call('DELETE', `/v1/api-keys/${revoked}`);

  // People: the first administrator, one who joined and left, an invitation that was revoked and one that waits.
  const ada = await setUp(s);
  const invite = async (email: string, extra: object = {}) =>
    (await ada.call('POST', '/v1/invitations', { body: { email, role: 'reviewer', ...extra } })).body;
  const bob = await invite('bob@example.com', { principal_id: 'user:bob' });
  const bobs_browser = openBrowser(s);
  const joined = await bobs_browser.call('POST', '/v1/auth/invitations/accept', {
    body: { token: bob.url.split('#')[1], name: 'Bob', password: PASSWORD },
  });
  const { id: bob_id } = joined.body.user;
  // Signing keys: a root, and one that was endorsed and left with its owner.
  const signer = await addPasskey(s, ada);
  await enrol(signer);
  const leaving = await addPasskey(s, bobs_browser);
  await enrol(leaving);
  await endorse(signer, leaving.key_id);
  await ada.call('PATCH', `/v1/members/${bob_id}`, { body: { role: 'viewer' } });
  await ada.call('DELETE', `/v1/members/${bob_id}`);
  await ada.call('DELETE', `/v1/invitations/${(await invite('eve@example.com')).id}`);
  await invite('kim@example.com');
  // A review policy: Cy is away, so Di approves in their place, and Ada completes what needs two people.
  const join = async (name: string) => {
    const { url } = await invite(`${name}@example.com`, { principal_id: `user:${name}` });
    const browser = openBrowser(s);
    await browser.call('POST', '/v1/auth/invitations/accept', {
      body: { token: url.split('#')[1], name, password: PASSWORD },
    });
    return browser;
  };
  const [cy, di] = [await join('cy'), await join('di')];
  const ada_principal = (await ada.call('GET', '/v1/me')).body.principal_id;
  const tier = { currency: 'EUR', from_minor: 90_000, approvals: 2, approvers: ['two'] };
  const two = [ada_principal, 'user:cy'];
  for (const policy of [
    { groups: { two }, tiers: [tier] },
    { groups: { two }, tiers: [tier], remind_before_seconds: 60 },
  ])
    await ada.call('PUT', '/v1/review-policy', { body: { policy, note: 'Two people.' } });
  const away = { until: new Date(Date.now() + 86_400_000).toISOString(), delegate: 'user:di' };
  await cy.call('PUT', '/v1/me/away', { body: away });
  const account = { slack_account: 'T0123ABCD/U0123ABCD', name: null };
  const code = await slackCodesOf(core, () => 'A'.repeat(27)).make(s.workspace_id, account);
  const linked = await di.call('POST', '/v1/me/slack', { body: { code } });
  if (linked.status !== 201) throw new Error(linked.text);
  for (const reviewers of [[di], [di, ada]]) {
    const { decision_id } = await post('/v1/decisions', spend('enforce', 90_000 + reviewers.length));
    for (const browser of reviewers) {
      const reply = await browser.call('POST', `/v1/decisions/${decision_id}/reviews`, {
        body: { action: 'ALLOW', reason_code: 'CHECKED' },
      });
      if (reply.status !== 201) throw new Error(reply.text);
    }
  }

  const asks = (slug: string, amount: number, extra: object = {}, on = s) =>
    ok(on, 'POST', '/v1/decisions', spend(slug, amount, extra as Record<string, unknown>));
  const own = (amount: number, extra: object = {}) =>
    post('/v1/decisions', spend(undefined, amount, extra as Record<string, unknown>), agent);
  const outcome = (id: string, body: object, by?: string) => post(`/v1/decisions/${id}/outcomes`, body, by);
  const review = (id: string, body: object) =>
    post(`/v1/decisions/${id}/reviews`, { reason_code: 'CHECKED', ...body }, reviewer);
  const label = (id: string, body: object) =>
    post(`/v1/decisions/${id}/labels`, { label: 'PURPOSE_ALIGNED', ...body }, reviewer);

  // Questions: open, answered by a review and a label, by themselves, and forgotten.
  const asking = await post('/v1/agents', { slug: 'asking', authority: AUTHORITY });
  const asker = makeAsker(s, core);
  const asked_by = (await s.sql('select key_id from api_keys order by key_id limit 1')).rows[0].key_id;
  const raise = (kinds: QuestionKind[], amount_minor = 100) =>
    asker.ask(asked_by, { agent_id: asking.id, kinds, amount_minor });
  const idOf = async (kind: string) =>
    (await s.sql('select question_id from questions where kind = $1', [kind])).rows[0].question_id;
  await raise(['model']);
  const doubted = await raise(['new_merchant', 'condition']);
  await review(doubted.decision_id, { action: 'DENY', comment: 'Not "this" 💶' });
  await label(doubted.decision_id, { label: 'PURPOSE_ALIGNED' });
  await raise(['condition'], 1_000);
  await raise(['other_goods']);
  const goods = `/v1/agents/asking/questions/${await idOf('other_goods')}/answer`;
  await ok(s, 'POST', goods, { answer: 'NO', comment: 'Never' }, reviewer);
  await s.call('DELETE', goods);
  await ok(s, 'POST', goods, { answer: 'YES' }, reviewer);

  // Endpoints that nothing reaches: one of them changed, one deleted.
  const endpoint = (path: string, body: object) => post(`/v1/webhooks${path}`, body);
  const hooks: string[] = [];
  for (const name of ['one', 'two', 'three']) {
    const url = `https://${name}.invalid/`;
    hooks.push((await endpoint('', { url, events: ['decision.label.recorded'] })).id);
  }
  await s.call('PATCH', `/v1/webhooks/${hooks[1]}`, { body: { url: 'https://changed.invalid/' } });
  await s.call('DELETE', `/v1/webhooks/${hooks[2]}`);

  // The same of channels.
  const channels: string[] = [];
  for (const name of ['one', 'two', 'three']) {
    const body = {
      name,
      type: 'webhook',
      url: `https://${name}.invalid/`,
      filter: { from_minor: 100 },
      quiet_hours: { time_zone: 'Europe/Berlin', from: '19:00', to: '08:00' },
    };
    channels.push((await post('/v1/channels', body)).id);
  }
  await s.call('PATCH', `/v1/channels/${channels[1]}`, {
    body: { url: 'https://changed.invalid/', filter: null },
  });
  await s.call('DELETE', `/v1/channels/${channels[2]}`);

  // SHADOW: allowed, denied, capped, reviewed twice, executed although stopped.
  const allowed = await asks('shadow', 500);
  const denied = await asks('shadow', 500, { action: { merchant: 'Evil Hosting "quoted" 💶' } });
  const capped = await asks('shadow', 9_000, {
    limitable: true,
    context: { reservation: { amount_minor: 1 } },
  });
  if (capped.reservation.amount_minor !== 5_000) throw new Error('the spend was not capped');
  const reviewed = await asks('shadow', 2_000);
  const first = await review(reviewed.decision_id, { action: 'DENY', comment: 'Zweimal gefragt' });
  await review(reviewed.decision_id, { action: 'ALLOW', supersedes: first.review_id });
  const { label_id } = await label(allowed.decision_id, {});
  await label(allowed.decision_id, { label: 'PURPOSE_UNCLEAR', supersedes: label_id });
  await label(denied.decision_id, { label: 'PURPOSE_MISALIGNED', comment: 'No' });
  await outcome(allowed.decision_id, { type: 'SPEND_EXECUTED', amount_minor: 450 });
  await outcome(allowed.decision_id, { type: 'PARTIALLY_REFUNDED', amount_minor: 50 });
  await outcome(denied.decision_id, { type: 'SPEND_EXECUTED', amount_minor: 500, external_reference: 'r1' });
  await outcome(capped.decision_id, { type: 'SPEND_FAILED' });
  await asks('shadow', 700);
  await core.signer.sign(workspace_id);
  const middle_seq = await lastSeq();
  await atMiddle?.(s);

  // ENFORCE: consumed with a payee and without, after a review, contradicted by the rail, cancelled.
  const payee = { action: { payee_id: 'sepa:DE1' } };
  const consume = (
    { capability }: { capability: { token: string } },
    amount_minor: number,
    extra: object = {},
  ) =>
    post(
      '/v1/capabilities/consume',
      { token: capability.token, amount_minor, currency: 'EUR', ...extra },
      adapter,
    );
  const paid = await own(300, payee);
  await consume(paid, 300, { payee_id: 'sepa:DE1', external_reference: 'x-1' });
  await outcome(paid.decision_id, { type: 'SPEND_EXECUTED', amount_minor: 300 });
  await outcome(
    paid.decision_id,
    { type: 'SPEND_EXECUTED', amount_minor: 310, source: 'PAYMENT_RAIL' },
    adapter,
  );
  await outcome(paid.decision_id, { type: 'REFUNDED', source: 'PAYMENT_RAIL' }, adapter);
  const free = await own(200);
  await consume(free, 150);
  const person = await own(1_500, { action: { payee_id: 'sepa:DE2' } });
  await review(person.decision_id, { action: 'ALLOW' });
  const now = await s.call('GET', `/v1/decisions/${person.decision_id}`, { key: agent });
  await consume(now.body, 1_500, { payee_id: 'sepa:DE2' });
  await signReview(signer, (await asks('shadow', 2_100)).decision_id);
  const refused = await own(1_600);
  await review(refused.decision_id, { action: 'DENY' });
  const blocked = await own(1_650, { action: { merchant: 'Never Again Ltd' } });
  await post(`/v1/decisions/${blocked.decision_id}/reviews`, {
    action: 'DENY',
    reason_code: 'MERCHANT_NOT_TRUSTED',
    remember: 'NEVER',
  });
  const note = (body: object) => post(`/v1/decisions/${refused.decision_id}/notes`, body, reviewer);
  await note({ text: 'Is this "the second"? 💶' });
  await note({ text: 'Yes' });
  await outcome((await own(120)).decision_id, { type: 'SPEND_CANCELLED' });
  const unauthorized = await own(1_700);
  await outcome(unauthorized.decision_id, { type: 'SPEND_EXECUTED', amount_minor: 1_900 });

  // What runs out: a review that nobody gave, with and without a late outcome; a capability that nobody used; a
  // pending review of a spend that was settled before.
  const late = await asks('enforce', 1_100, {}, hasty);
  await asks('enforce', 1_200, {}, hasty);
  await asks('enforce', 90, payee, hasty);
  const settled = await asks('enforce', 1_300, {}, hasty);
  await outcome(settled.decision_id, { type: 'SPEND_EXECUTED', amount_minor: 1_300 });
  const ran_out = async () =>
    Number((await s.sql('select count(*) from expired_reservations')).rows[0].count) === 3;
  await until(ran_out, 100);
  await outcome(late.decision_id, { type: 'SPEND_EXECUTED', amount_minor: 1_100 });
  await outcome(settled.decision_id, { type: 'PARTIALLY_REFUNDED', amount_minor: 1 });
  await label(late.decision_id, {});

  // Files of what rails say was paid: lines without ids, an assigned instrument, an import that was deleted.
  const file = async (rows: readonly object[]) => {
    const { id } = await post('/v1/imports', { file_name: 'lines.ndjson', source: 'lines', agent: 'shadow' });
    const reply = await s.call('PUT', `/v1/imports/${id}/content`, {
      raw: rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
      headers: { 'content-type': 'application/x-ndjson' },
    });
    if (reply.status !== 200) throw new Error(reply.text);
    return id;
  };
  const line = {
    merchant: 'Ozols "quoted" 💶',
    amount_minor: 4_200,
    currency: 'EUR',
    occurred_at: '2026-03-02',
  };
  await file([line, line, { ...line, instrument: 'sepa:main', external_reference: 'r1' }]);
  await s.call('DELETE', `/v1/imports/${await file([{ ...line, external_reference: 'deleted' }])}`);
  // One that was asked for, one that nobody asked for, and what people said of a third.
  const of_today = { ...line, occurred_at: new Date(Date.now() + 5_000).toISOString() };
  const asked_for = await asks('shadow', 4_300, { action: { merchant: of_today.merchant } });
  const rows = [4_300, 4_400, 4_500].map((amount_minor) => ({
    ...of_today,
    amount_minor,
    external_reference: `now${amount_minor}`,
  }));
  const { data: of_file } = await ok(s, 'GET', `/v1/lines?import=${await file(rows)}`, undefined);
  const excluded = of_file.find((each: { amount_minor: number }) => each.amount_minor === 4_500);
  await post(`/v1/lines/${excluded.line_id}/resolutions`, { action: 'EXCLUDE', comment: 'A fee.' });
  const never = of_file.find((each: { amount_minor: number }) => each.amount_minor === 4_400);
  const unmatched = {
    line: never,
    state: 'NEVER_ASKED' as const,
    nearest: [{ decision_id: asked_for.decision_id, why: 'It is for less.' }],
  };
  const by_system = { actor: SYSTEM, request_id: null, client_address: null };
  await core.lane.submit(workspace_id, reportUnmatched, { spends: [unmatched] }, by_system);
  for (const agent of ['shadow', 'enforce'])
    await ok(s, 'PUT', '/v1/instruments/sepa:main', { agent, from: '2026-01-01T00:00:00Z' });
  await post('/v1/imports', { file_name: 'later.csv', source: 'csv', mapping: CSV_MAPPING });

  // Rails: one with a secret, one that is deleted, and an event.
  const cards = makeRailSender(s);
  const rail = await cards.addRail('stripe_issuing');
  const { id: gone } = await cards.addRail('lithic');
  await ok(s, 'PATCH', `/v1/rails/${rail.id}`, { name: 'Cards "live" 💶' });
  await s.call('DELETE', `/v1/rails/${gone}`);
  const transaction = stripeTransaction({
    merchant_data: { ...stripeTransaction().merchant_data, name: 'Ozols "quoted" 💶' },
  });
  const taken = await cards.send(rail, stripeEvent('issuing_transaction.created', transaction));
  if (taken.status !== 200) throw new Error(taken.text);

  // Cards of an agent in SHADOW: an authorization that is captured, and one that was asked for first and is declined.
  await ok(s, 'PUT', '/v1/instruments/stripe_issuing:ic_shadow', { agent: 'shadow' });
  const now_s = Math.floor(Date.now() / 1000);
  const authorization = (id: string, amount: number, more: object) =>
    stripeEvent(
      'issuing_authorization.updated',
      stripeAuthorization({ id, amount, created: now_s, card: { id: 'ic_shadow' } as never, ...more }),
    );
  const capture = { authorization: 'iauth_seen', card: 'ic_shadow', created: now_s };
  await asks('shadow', 777, { action: { merchant: 'Hetzner Online', currency: 'USD' } });
  for (const event of [
    authorization('iauth_seen', 640, { currency: 'eur' }),
    stripeEvent(
      'issuing_transaction.created',
      stripeTransaction({ ...capture, id: 'ipi_s', amount: -640, currency: 'eur' }),
    ),
    authorization('iauth_seen', 640, { currency: 'eur', status: 'closed' }),
    authorization('iauth_asked', 777, { approved: false, status: 'closed' }),
  ]) {
    const reply = await cards.send(rail, event);
    if (reply.status !== 200) throw new Error(reply.text);
  }

  // What will run out.
  await own(80, payee);
  await own(1_400);
  await ok(s, 'PATCH', '/v1/agents/bare', { status: 'revoked' });
  await ok(s, 'POST', '/v1/workspace/stop', { reason: 'A drill.' });
  await ok(s, 'POST', '/v1/workspace/resume', undefined);
  await core.signer.sign(workspace_id);
  const last_seq = await lastSeq();

  await hasty.halt();
  await s.halt();
  const onSkip = ({ error }: SkippedEvent) => {
    throw error;
  };
  for (const follower of [aggregateFeedback, followLines])
    while ((await getWatermark(core.db, follower.name, workspace_id)) < last_seq)
      await followNext(core.followers_db, follower, workspace_id, { onSkip });
  return {
    core,
    workspace_id,
    checkpoint_dir: s.checkpoint_dir,
    middle_seq,
    last_seq,
    sql: s.sql,
    connection: s.database.connection,
    verify: (options = {}, of = workspace_id) =>
      verifyLedger(core.ledger_db, of, {
        since: 0,
        keys: core.secrets.verifyingKeys,
        checkpoint_dir: s.checkpoint_dir,
        names,
        ...options,
      }),
    async stop() {
      await core.close();
      await hasty.stop();
      await s.stop();
    },
  };
}
