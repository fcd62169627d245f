// What must work in every run time there is, with nothing but the packed packages and a fake of the service.

import { memoryStore } from '@purser/adapters/cards';
import { lithicRail } from '@purser/adapters/lithic';
import { stripeIssuing } from '@purser/adapters/stripe-issuing';
import { guardX402 } from '@purser/adapters/x402';
import { guardTool } from '@purser/agents';
import { purserApproval } from '@purser/agents/ai-sdk';
import { purserHook } from '@purser/agents/claude';
import { purserMiddleware } from '@purser/agents/langchain';
import { purserGuardrail } from '@purser/agents/openai';
import { Purser, webhooks } from '@purser/sdk';
import { fakePurser } from '@purser/sdk/testing';

const WRONG = 'Casino Royal';
const fake = fakePurser();
fake.decide(({ action }) => (action.merchant === WRONG ? 'DENY' : 'ALLOW'));
// Where it is, is said: Deno asks before a program reads its environment.
const client = (apiKey) => new Purser({ apiKey, baseURL: 'http://127.0.0.1:8080', fetch: fake.fetch });
const [agent, adapter] = [client('sk_agent'), client('sk_adapter')];

const right = (name) => ({ name, merchant: 'Hetzner Online' });
const wrong = (name) => ({ name, merchant: WRONG });
const toSpend = ({ name, merchant }) => ({
  idempotencyKey: name,
  action: { type: 'purchase', merchant, amount_minor: 100, currency: 'EUR' },
});

/** Each guard lets the right purchase through and stops the wrong one. */
async function guards() {
  const buy = guardTool(agent, async ({ name }) => `bought ${name}`, toSpend, { adapter });
  const guarded = [];
  for (const input of [right('a'), right('a'), wrong('b')]) {
    const told = await buy(input);
    guarded.push(told.status ?? told);
  }
  const [hook] = purserHook(agent, { buy: toSpend }, { adapter }).hooks;
  const claude = [];
  for (const tool_input of [right('c'), wrong('d')]) {
    const asked = { hook_event_name: 'PreToolUse', tool_name: 'buy', tool_input };
    const { hookSpecificOutput } = await hook(asked, 'id', { signal: new AbortController().signal });
    claude.push(hookSpecificOutput.permissionDecision ?? 'left');
  }
  const approvals = purserApproval(agent, { buy: toSpend }, { adapter });
  const ai_sdk = [];
  for (const input of [right('e'), wrong('f')]) {
    ai_sdk.push((await approvals.buy(input, { toolCallId: 'id' })).type);
  }
  const { wrapToolCall } = purserMiddleware(agent, { buy: toSpend }, { adapter });
  const langchain = [];
  for (const args of [right('g'), wrong('h')]) {
    const request = {
      toolCall: { name: 'buy', args, id: 'id' },
      tool: { invoke: () => `bought ${args.name}` },
    };
    const told = await wrapToolCall(request, ({ tool }) => tool.invoke());
    langchain.push(told.status ?? told);
  }
  const guardrail = purserGuardrail(agent, toSpend, { adapter });
  const openai = [];
  for (const input of [right('i'), wrong('j')]) {
    const toolCall = { arguments: JSON.stringify(input), callId: 'id' };
    openai.push((await guardrail.run({ toolCall })).behavior.type);
  }
  return { guarded, claude, ai_sdk, langchain, openai };
}

const SECRET = 'whsec_c2VjcmV0IG9mIHRoZSBzbW9rZSB0ZXN0cw==';
const card_options = {
  agent,
  adapter,
  store: memoryStore(),
  secret: 'a secret of the tests with 32 characters',
  // Far more than an answer takes: what is tried here is not the machine.
  answerWithin: 60_000,
  log: () => {},
};
/** Arms a card with a decision of its own. */
async function arm(rail, name, card) {
  const action = { type: 'purchase', merchant: 'Hetzner Online', amount_minor: 900, currency: 'EUR' };
  const { decision_id } = await agent.decisions.create({ action }, { idempotencyKey: name });
  await rail.arm({ card, decision_id });
}

/** An armed card is approved once and the same event alike; a second one and a forged one are not. */
async function stripe() {
  const constructEventAsync = (body, signature, secret, tolerance) =>
    webhooks.unwrap(body, { 'x-svc-signature': signature }, secret, { tolerance });
  const rail = stripeIssuing({
    ...card_options,
    stripe: { webhooks: { constructEventAsync } },
    webhookSecret: SECRET,
    apiVersion: '2026-10-28.endive',
  });
  await arm(rail, 'stripe', 'ic_1');
  const send = async (event, secret = SECRET) => {
    const body = JSON.stringify(event);
    const signed = await webhooks.sign(body, secret);
    return rail.handle(body, signed['x-svc-signature']);
  };
  const request = (id, authorization) => ({
    id,
    type: 'issuing_authorization.request',
    data: {
      object: {
        id: authorization,
        card: { id: 'ic_1' },
        status: 'pending',
        approved: false,
        currency: 'eur',
        merchant_data: { name: 'HETZNER ONLINE GMBH' },
        pending_request: { amount: 900, currency: 'eur' },
      },
    },
  });
  const approved = [];
  for (const event of [
    request('evt_1', 'iauth_1'),
    request('evt_1', 'iauth_1'),
    request('evt_2', 'iauth_2'),
  ]) {
    approved.push(JSON.parse((await send(event)).body).approved);
  }
  const forged = await send(request('evt_3', 'iauth_3'), 'whsec_YW5vdGhlciBzZWNyZXQgYWx0b2dldGhlcg==');
  approved.push(JSON.parse(forged.body).approved);
  const transactions = [{ id: 'ipi_1', type: 'capture', amount: -900, currency: 'eur' }];
  const object = { ...request('', 'iauth_1').data.object, status: 'closed', approved: true, transactions };
  await send({ id: 'evt_4', type: 'issuing_authorization.updated', data: { object } });
  return { approved, forged: forged.status };
}

/** The same, as Lithic asks and signs. */
async function lithic() {
  const parse = (body, { headers, secret }) => {
    if (headers.signed_with !== secret) throw new Error('not signed');
    return JSON.parse(body);
  };
  const rail = lithicRail({ ...card_options, lithic: { webhooks: { parse } }, secrets: [SECRET] });
  await arm(rail, 'lithic', 'card-1');
  const ask = async (event_token, token, signed_with = SECRET) => {
    const body = JSON.stringify({
      event_type: 'card_authorization.approval_request',
      token,
      event_token,
      status: 'AUTHORIZATION',
      card: { token: 'card-1' },
      merchant: { descriptor: 'HETZNER ONLINE' },
      amounts: { cardholder: { amount: 900, currency: 'EUR' }, hold: null },
    });
    return rail.handle(new TextEncoder().encode(body), { signed_with });
  };
  const approved = [];
  for (const [event, token] of [
    ['e1', 't1'],
    ['e1', 't1'],
    ['e2', 't2'],
  ]) {
    approved.push(JSON.parse((await ask(event, token)).body).result);
  }
  return { approved, forged: (await ask('e3', 't3', 'another')).status };
}

/** A payment below a cent is signed within a top-up and reported rounded up; another asset is refused. */
async function x402() {
  const hooks = {};
  const wallet = Object.fromEntries(
    [
      'onBeforePaymentCreation',
      'onAfterPaymentCreation',
      'onPaymentCreationFailure',
      'onPaymentResponse',
    ].map((name) => [
      name,
      (hook) => {
        hooks[name] = hook;
      },
    ]),
  );
  const rail = guardX402(wallet, {
    purser: agent,
    adapter,
    assets: { 'x402:cash:EURC': { currency: 'EUR', exponent: 2, decimals: 6 } },
    topUp: 100,
    name: 'smoke',
    log: () => {},
  });
  const told = [];
  for (const asset of ['EURC', 'OTHER']) {
    const selectedRequirements = {
      network: 'x402:cash',
      asset,
      amount: '2500',
      payTo: '0xShop',
      maxTimeoutSeconds: 60,
    };
    const context = { paymentRequired: {}, selectedRequirements };
    const refused = await hooks.onBeforePaymentCreation(context);
    told.push(refused === undefined ? 'signed' : 'refused');
    if (refused !== undefined) continue;
    const paymentPayload = { signature: asset };
    await hooks.onAfterPaymentCreation({ ...context, paymentPayload });
    await hooks.onPaymentResponse({ paymentPayload, settleResponse: { success: true, transaction: 't' } });
  }
  return [...told, await rail.close()];
}

/** Drives every guard and every rail, and gives what came of it as JSON. */
export async function smoke() {
  const told = {
    ...(await guards()),
    stripe_issuing: await stripe(),
    lithic: await lithic(),
    x402: await x402(),
  };
  const reported = fake.outcomes.map(({ type, amount_minor }) => `${type} ${amount_minor}`);
  return JSON.stringify({ ...told, reported });
}
