import { randomBytes } from 'node:crypto';
import { exampleOf } from '@purser/contract/values/example';
import type { WebhookEventType } from '@purser/contract/values/webhooks';
import { WEBHOOK_EVENTS } from '@purser/contract/webhook-events';
import { APIError, Purser, type WebhookEvent, webhooks } from '@purser/sdk';
import { fakePurser } from '@purser/sdk/testing';
import type { Context } from './context.ts';
import { CommandError, EXIT } from './failure.ts';
import { pause } from './follow.ts';

const FOLLOW_MS = 1_000;
const DELIVERY_MS = 10_000;
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_CHARACTERS = 10;
const RANDOM_CHARACTERS = 16;

export type EventType = WebhookEventType;

/** The secret that events are signed with here: `PURSER_WEBHOOK_SECRET`, or a new one. */
function secretOf(env: NodeJS.ProcessEnv): { secret: string; is_new: boolean } {
  const given = env.PURSER_WEBHOOK_SECRET;
  if (given) return { secret: given, is_new: false };
  return { secret: `whsec_${randomBytes(32).toString('base64')}`, is_new: true };
}

/** An id below all of events from `time_ms` on: ids begin with the time of their making. */
function eventIdAt(time_ms: number): string {
  let rest = time_ms;
  let text = '';
  for (let i = 0; i < TIME_CHARACTERS; i++) {
    text = CROCKFORD[rest % CROCKFORD.length] + text;
    rest = Math.floor(rest / CROCKFORD.length);
  }
  return `evt_${text}${'0'.repeat(RANDOM_CHARACTERS)}`;
}

/** Posts one event as a delivery; tells its status, or why there was none. */
async function deliver(url: string, secret: string, event: WebhookEvent): Promise<string> {
  const body = JSON.stringify(event);
  const { id, type } = event;
  const headers = {
    ...(await webhooks.sign(body, secret, { id, type })),
    'content-type': 'application/json',
  };
  try {
    const signal = AbortSignal.timeout(DELIVERY_MS);
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
    await response.body?.cancel();
    return String(response.status);
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string; message?: string } };
    return `not delivered: ${cause?.code ?? cause?.message ?? message}`;
  }
}

function tellDelivery(context: Context, event: WebhookEvent, result: string, json?: boolean): void {
  if (json) context.json({ id: event.id, type: event.type, result });
  else context.say(`${event.created_at}  ${event.type}  ${event.id}  → ${result}`);
}

function tellSecret({ stderr }: Context, { secret, is_new }: { secret: string; is_new: boolean }): void {
  if (!is_new) return;
  stderr.write(`Signed with ${secret} (set PURSER_WEBHOOK_SECRET to keep one).\n`);
}

export interface ListenOptions {
  forwardTo: string;
  after?: string;
  follow: boolean;
  json?: boolean;
}

/** Hands events on to a receiver that is being developed, as deliveries would, until Ctrl-C. */
export async function listen(context: Context, options: ListenOptions): Promise<number> {
  const client = await context.client();
  const signing = secretOf(context.env);
  const endpoints = await client.webhookEndpoints.list();
  if (endpoints.data.length === 0)
    throw new CommandError(
      'The workspace has no webhook endpoint, and events are stored only while one subscribes to them: create one with POST /v1/webhooks; any public address will do.',
    );
  tellSecret(context, signing);
  let after = options.after ?? eventIdAt(Date.now());
  for (;;) {
    try {
      for await (const event of client.events.list({ after })) {
        const result = await deliver(options.forwardTo, signing.secret, event as WebhookEvent);
        tellDelivery(context, event as WebhookEvent, result, options.json);
        after = event.id;
        if (context.signal.aborted) return EXIT.ok;
      }
    } catch (error) {
      if (!options.follow || (error instanceof APIError && !error.retryable)) throw error;
    }
    if (!options.follow || !(await pause(FOLLOW_MS, context.signal))) return EXIT.ok;
  }
}

/** The parts that the samples share: a made-up client, its decision, and the decision in brief. */
async function sampleDecision(type: EventType) {
  const fake = fakePurser({ agent: 'sample-agent' });
  const purser = new Purser({ apiKey: 'sk_sample', fetch: fake.fetch });
  fake.decide(type === 'decision.review.recorded' ? 'REVIEW' : 'ALLOW');
  const action = { type: 'purchase', merchant: 'Hetzner Online', amount_minor: 5440, currency: 'EUR' };
  const decision = await purser.decisions.create({ action });
  const { decision_id, agent, mode, effective_decision, reason_code } = decision;
  const brief = { decision_id, agent, mode, decision: decision.decision, effective_decision, reason_code };
  return { fake, purser, decision, decision_id, brief };
}

type Sample = Awaited<ReturnType<typeof sampleDecision>>;

/** Makes the data of a type from one decision of the fake. Any other type has the examples of its schema. */
const STORIES: { [Type in EventType]?: (sample: Sample) => object | Promise<object> } = {
  'decision.created': ({ decision }) => {
    const { token: _, ...capability } = decision.capability ?? {};
    return { ...decision, capability: decision.capability === null ? null : capability };
  },
  'decision.review.recorded': ({ fake, decision_id, brief }) => {
    const { capability: _, ...review } = fake.review(decision_id, 'ALLOW', 'OK');
    return { ...review, decision: { ...brief, effective_decision: 'ALLOW' } };
  },
  'decision.outcome.recorded': async ({ purser, decision_id, brief }) => {
    const outcome = { type: 'SPEND_EXECUTED', amount_minor: 5440 } as const;
    return { ...(await purser.decisions.reportOutcome(decision_id, outcome)), decision: brief };
  },
};

/** An event of a type, as the service would send it, for a made-up payment request. */
async function sampleEvent(type: EventType, now: Date): Promise<WebhookEvent> {
  const story = STORIES[type];
  const data =
    story === undefined
      ? exampleOf(WEBHOOK_EVENTS[type].body.properties.data, true)
      : await story(await sampleDecision(type));
  return { id: eventIdAt(now.getTime()), type, created_at: now.toISOString(), data } as WebhookEvent;
}

/** Sends a sample of an event to a receiver. Ends with 2 unless it was taken. */
export async function trigger(
  context: Context,
  type: EventType,
  options: { forwardTo: string; json?: boolean },
): Promise<number> {
  const signing = secretOf(context.env);
  tellSecret(context, signing);
  const event = await sampleEvent(type, new Date());
  const result = await deliver(options.forwardTo, signing.secret, event);
  tellDelivery(context, event, result, options.json);
  return /^2\d\d$/.test(result) ? EXIT.ok : EXIT.differs;
}
