import { AUTHORITY, type Workspace } from './workspace.ts';

/** IDs of objects in a filled workspace. */
export interface Filled {
  pending_id: string;
  allowed_id: string;
  webhook_id: string;
}

const LONG_SLUG = 'procurement-of-office-supplies-for-the-gulf-region';
const LONG_NAME = 'Procurement of office supplies and equipment for Gulf';
const LONG_MERCHANT =
  'Al-Homaizi Office Furniture and Commercial Equipment Trading Company W.L.L. and Partners';

/**
 * Fills a workspace with difficult data: currencies with zero and three decimals, long names, both modes, every decision,
 * reviews, labels, outcomes, keys, an endpoint and an invitation.
 */
export async function fill(workspace: Workspace, webhook_url = 'http://127.0.0.1:9/nobody'): Promise<Filled> {
  const webhook = await workspace.call('POST', '/v1/webhooks', { url: webhook_url });
  await addAgents(workspace);
  const requests = await sendRequests(workspace);
  await addRecords(workspace, requests);
  await addKeys(workspace);
  await workspace.call('PATCH', '/v1/agents/travel', { status: 'paused' });
  await workspace.call('POST', '/v1/invitations', {
    email: 'katherine.johnson.of.the.flight.research.division@example.com',
    role: 'reviewer',
  });
  return {
    pending_id: requests.pending.decision_id,
    allowed_id: requests.allowed.decision_id,
    webhook_id: webhook.id,
  };
}

async function addAgents({ call, agent }: Workspace): Promise<void> {
  await agent({ mode: 'ENFORCE' });
  await agent({
    slug: 'travel',
    name: 'Travel desk',
    authority: { ...AUTHORITY, currency: 'JPY', purpose: { objective: 'Book trains and hotels in Japan' } },
  });
  await agent({
    slug: LONG_SLUG,
    name: LONG_NAME,
    authority: {
      ...AUTHORITY,
      currency: 'KWD',
      purpose: { objective: 'Order chairs for the Kuwait office' },
    },
  });
  await call('POST', '/v1/budgets', {
    slug: 'company',
    name: LONG_NAME,
    currency: 'KWD',
    period: 'TOTAL',
    limit_minor: 900_000_000,
  });
  await call('POST', '/v1/budgets', {
    slug: LONG_SLUG,
    currency: 'KWD',
    period: 'QUARTER',
    limit_minor: 600_500,
    parent: 'company',
  });
  await call('POST', '/v1/budgets', { slug: 'trains', currency: 'JPY', period: 'DAY', limit_minor: 42_000 });
  await call('PATCH', '/v1/budgets/trains', { status: 'frozen' });
  await agent({ slug: 'no-rules', name: 'No rules yet', authority: undefined });
}

async function sendRequests({ spend }: Workspace) {
  const allowed = await spend();
  const pending = await spend({
    amount_minor: 24_900,
    description: 'Three servers for the load test of staging',
  });
  const others = [
    await spend({
      amount_minor: 30_100,
      merchant: 'Datadog',
      description: 'Monitoring of the staging servers',
    }),
    await spend({ agent: 'travel', currency: 'JPY', amount_minor: 42_000, merchant: 'Hotel Granvia Kyoto' }),
    await spend({ agent: LONG_SLUG, currency: 'KWD', amount_minor: 25_500, merchant: LONG_MERCHANT }),
  ];
  await spend({ amount_minor: 90_000, merchant: 'Steam Games', description: 'A game for the weekend' });
  await spend({ agent: 'travel', currency: 'JPY', amount_minor: 1_320, merchant: 'JR Central' });
  await spend({ agent: LONG_SLUG, currency: 'KWD', amount_minor: 1_250, merchant: 'Office One' });
  await spend({ agent: 'no-rules' });
  return { allowed, pending, others };
}

/** Adds a payment, an outcome, labels and a review. */
async function addRecords(
  { call }: Workspace,
  { allowed, others }: Awaited<ReturnType<typeof sendRequests>>,
): Promise<void> {
  const rail = await call('POST', '/v1/api-keys', { name: 'Card processor', scopes: ['consume'] });
  await call(
    'POST',
    '/v1/capabilities/consume',
    {
      token: allowed.capability.token,
      amount_minor: 5_400,
      currency: 'EUR',
      external_reference: `pi_${'3Nq7'.repeat(16)}`,
    },
    { 'x-api-key': rail.key, 'idempotency-key': `use-${allowed.decision_id}` },
  );
  const id = (of: { decision_id: string }) => `/v1/decisions/${of.decision_id}`;
  await call('POST', `${id(allowed)}/outcomes`, { type: 'SPEND_EXECUTED', amount_minor: 5440 });
  await call('POST', `${id(allowed)}/labels`, { label: 'PURPOSE_ALIGNED', comment: 'As every month' });
  await call('POST', `${id(others[1])}/labels`, { label: 'PURPOSE_MISALIGNED', comment: 'Nobody travels' });
  const reviewer = await call('POST', '/v1/api-keys', {
    name: 'Ada reviews elsewhere',
    scopes: ['review', 'read'],
    principal_id: 'user:ada',
    expires_in_seconds: 600_000,
  });
  await call(
    'POST',
    `${id(others[0])}/reviews`,
    { action: 'DENY', reason_code: 'NOT_NEEDED', comment: 'We have that already.' },
    { 'x-api-key': reviewer.key },
  );
}

async function addKeys({ call }: Workspace): Promise<void> {
  await call('POST', '/v1/api-keys', { name: 'Production of infra-bot', agent_id: 'infra-bot' });
  const old = await call('POST', '/v1/api-keys', { name: 'Old dashboards', scopes: ['read'] });
  await call('DELETE', `/v1/api-keys/${old.id}`);
}
