import { exponentOf, formatMoney } from '@purser/mcp/money';
import type { Decision } from '@purser/sdk';
import { type Command, InvalidArgumentError } from 'commander';
import type { Context } from './context.ts';
import { CommandError, EXIT } from './failure.ts';
import type { Run } from './run.ts';
import { oneLine } from './simulation-text.ts';

const DEFAULT_GATEWAY = 'http://127.0.0.1:8081';
const TIMEOUT_MS = 10_000;

/** The price of a model in a gateway's table. */
interface ListedPrice {
  provider: string;
  model: string;
  currency: string;
  per_million: { input: string; output?: string; cached_input?: string; cache_write?: string };
  from: string;
  source: string;
  as_of: string;
}

function pricesIn(data: unknown): { hash: string; models: ListedPrice[]; rates: unknown } | null {
  const { hash, models, rates = [] } = (data ?? {}) as { hash?: unknown; models?: unknown; rates?: unknown };
  const is_table =
    typeof hash === 'string' &&
    Array.isArray(models) &&
    models.every((each) => typeof each?.model === 'string' && typeof each?.per_million?.input === 'string');
  return is_table ? { hash, models: models as ListedPrice[], rates } : null;
}

/** Prints the prices that a gateway counts with, per million tokens. Needs no key. */
async function listPrices(
  context: Context,
  { gateway, json }: { gateway: string; json?: boolean },
): Promise<number> {
  const url = new URL('/gateway/prices', gateway);
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const answer = await fetch(url, { signal }).catch((error: unknown) => {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    throw new CommandError(`No gateway answers at ${url.origin} (${String(cause)}). Name it with --gateway.`);
  });
  const prices = answer.ok ? pricesIn(await answer.json().catch(() => null)) : null;
  if (prices === null)
    throw new CommandError(`${url} answered ${answer.status}, and no prices: is it the gateway?`);
  if (json) {
    context.json(prices);
    return EXIT.ok;
  }
  for (const { provider, model, currency, per_million, from, source, as_of } of prices.models) {
    const { input, cached_input = input, cache_write = input, output } = per_million;
    const amounts = [`input ${input}`, `cached ${cached_input}`, `cache write ${cache_write}`];
    if (output !== undefined) amounts.push(`output ${output}`);
    context.say(
      `${oneLine(provider, 40)}  ${oneLine(model, 128)}   ${currency}  ${amounts.join(', ')}`,
      `  ${from}, as of ${as_of}: ${oneLine(source, 300)}`,
    );
  }
  context.say(`Per million tokens. ${prices.hash}`);
  return EXIT.ok;
}

const gatewayOf = ({ context }: Decision) => {
  const { lease } = (context ?? {}) as { lease?: { gateway?: unknown } };
  return typeof lease?.gateway === 'string' ? oneLine(lease.gateway, 60) : 'unknown gateway';
};

/** Lists leases that still count whole, oldest first. */
async function listLeases(context: Context, { json }: { json?: boolean }): Promise<number> {
  const client = await context.client();
  let count = 0;
  for await (const decision of client.decisions.list({ outcome_state: ['NONE'], order: 'asc' })) {
    const { lease, reservation, decision_id, agent, action, created_at } = decision;
    if (lease !== true || reservation.status !== 'HELD') continue;
    count += 1;
    if (json) context.json(decision);
    else
      context.say(
        `${decision_id}  ${formatMoney(reservation.amount_minor, reservation.currency)}  ${agent.slug}  ${oneLine(action.merchant, 60)}  ${gatewayOf(decision)}  ${created_at}`,
      );
  }
  if (count === 0 && !json) context.say('No open leases.');
  return EXIT.ok;
}

interface SettleOptions {
  spent: string;
  currency: string;
  gatewayIsGone?: boolean;
}

/** An amount in major units as minor units, rounded up as a gateway does. Throws `CommandError`. */
function spentMinor(spent: string, currency: string): number {
  const [, whole, fraction = ''] = /^(\d{1,15})(?:\.(\d{1,18}))?$/.exec(spent) ?? [];
  if (whole === undefined) throw new CommandError('--spent must be an amount in major units, such as 0.43.');
  const exponent = exponentOf(currency);
  const rest = /[1-9]/.test(fraction.slice(exponent)) ? 1 : 0;
  const minor = Number(whole + fraction.slice(0, exponent).padEnd(exponent, '0')) + rest;
  if (!Number.isSafeInteger(minor)) throw new CommandError('--spent must be smaller.');
  return minor;
}

/** Reports what a lost gateway spent of a lease, as the payment rail. Needs the adapter's key. */
async function settleLease(
  context: Context,
  decision_id: string,
  { spent, currency, gatewayIsGone }: SettleOptions,
): Promise<number> {
  if (gatewayIsGone !== true)
    throw new CommandError(
      "A gateway settles its leases by itself when it starts again on its journal. If the gateway or its journal is lost for good, read the provider's usage page and repeat the command with --gateway-is-gone.",
    );
  const amount_minor = spentMinor(spent, currency);
  const client = await context.client();
  const outcome =
    amount_minor === 0
      ? ({ type: 'SPEND_CANCELLED' } as const)
      : ({ type: 'SPEND_EXECUTED', amount_minor } as const);
  // A wrong currency is refused, so that no amount is read with another number of digits.
  const body = {
    ...outcome,
    currency,
    source: 'PAYMENT_RAIL',
    external_reference: 'settled by hand',
  } as const;
  const { response } = await client.decisions.reportOutcome(decision_id, body).withResponse();
  const money = formatMoney(amount_minor, currency);
  // A report that is repeated changes nothing, and a later one may have raised what counts.
  const is_new = response.status === 201;
  context.say(
    is_new
      ? `${decision_id} counts ${money} from now on.`
      : `${decision_id} was settled with ${money} before, so nothing changed. The highest report counts.`,
  );
  return EXIT.ok;
}

/** Adds the commands about model calls. */
export function addModels(program: Command, context: Context, run: Run): void {
  const models = program.command('models').description('see the prices, and the money, of model calls');
  models
    .command('prices')
    .description("show a gateway's prices per million tokens, and where they come from; needs no key")
    .option('--gateway <url>', 'address of the gateway', url, DEFAULT_GATEWAY)
    .option('--json', 'print JSON instead of text')
    .action(run((options: { gateway: string; json?: boolean }) => listPrices(context, options)));
  models
    .command('leases')
    .description('list the leases of gateways that are still open, oldest first')
    .option('--json', 'print JSON instead of text')
    .action(run((options: { json?: boolean }) => listLeases(context, options)));
  models
    .command('settle <decision_id>')
    .description('report what a lost gateway spent of a lease; needs a payment adapter key')
    .requiredOption('--spent <amount>', 'what it spent, in major units, such as 0.43')
    .option('--currency <code>', "the lease's currency; any other is refused", 'USD')
    .option('--gateway-is-gone', 'the gateway or its journal is lost for good')
    .action(run((id: string, options: SettleOptions) => settleLease(context, id, options)));
}

function url(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text))
    throw new InvalidArgumentError('must be an http or https URL.');
  return text;
}
