import { text } from 'node:stream/consumers';
import { ALLOWANCE_STATUSES } from '@purser/contract/values/allowances';
import { BUDGET_PERIODS } from '@purser/contract/values/budgets';
import { formatMoney } from '@purser/mcp/money';
import type { Allowance, CreateAllowanceRequest, DecideAllowanceRequest } from '@purser/sdk';
import { type Command, Option } from 'commander';
import { amountOf } from './amount.ts';
import { type Context, readText } from './context.ts';
import { CommandError, EXIT } from './failure.ts';
import type { Run } from './run.ts';
import { oneLine } from './simulation-text.ts';

const JSON_FLAG = ['--json', 'print JSON instead of text'] as const;

function usedOf({ standing, amount_minor, currency }: Allowance): string {
  return `${formatMoney(standing.used_minor, currency)} of ${formatMoney(amount_minor, currency)}`;
}

const holderOf = (agent: Allowance['agent']) => (agent === null ? 'any agent' : oneLine(agent.slug, 64));

function lineOf(allowance: Allowance): string {
  const { id, status, agent, name } = allowance;
  return [id, status, holderOf(agent), usedOf(allowance), ...(name === null ? [] : [oneLine(name, 64)])].join(
    '  ',
  );
}

/** An allowance in full; what it does not have is left out. */
function factsOf(allowance: Allowance): string[] {
  const { period, time_zone, currency, per_spend_limit_minor: each, max_count, total } = allowance;
  const { request, decided, revoked, mandate } = allowance;
  const line = (text: string | null | undefined) => (text == null ? null : oneLine(text, 512));
  const listed = (texts: readonly string[] | undefined) => line(texts?.join(', '));
  const list = (values: readonly string[] | null) => values?.map((value) => oneLine(value, 200)).join(', ');
  const labels = Object.entries(allowance.labels).map(
    ([key, value]) => `${key}:${oneLine(String(value), 128)}`,
  );
  const facts: [string, string | null | undefined][] = [
    [
      'Used',
      `${usedOf(allowance)}${period === 'TOTAL' ? '' : ` this ${period.toLowerCase()} (${time_zone})`}`,
    ],
    ['In all', `${formatMoney(total.used_minor, currency)} in ${total.used_count} spends`],
    ['For each spend', each === null ? null : `at most ${formatMoney(each, currency)}`],
    ['Spends', max_count === null ? null : `at most ${max_count} a period`],
    ['Merchants', list(allowance.merchants)],
    ['Payees', list(allowance.payee_ids)],
    ['Types', list(allowance.action_types)],
    ['Purpose', allowance.purpose === null ? null : oneLine(allowance.purpose, 2_000)],
    ['Part of', allowance.parent],
    ['Budget', allowance.budget?.slug],
    ['Labels', labels.join(', ')],
    ['Expires', allowance.expires_at],
    ['Issuer', allowance.issuer_id],
    ['Mandate', mandate === null ? null : `${mandate.format}, for the payer to check`],
    ['Checkout', line(mandate?.reference)],
    ['Instruments', listed(mandate?.instruments?.map(({ type, id }) => `${type} ${id}`))],
    [
      'Providers',
      listed(mandate?.pisps?.map(({ brand_name, domain_name }) => `${brand_name} (${domain_name})`)),
    ],
    ['External id', allowance.external_id === null ? null : oneLine(allowance.external_id, 128)],
    ['The agent says', request === null ? null : oneLine(request.purpose, 2_000)],
    ['Decide by', decided === null ? request?.decide_by : null],
    [
      'Decided',
      decided === null
        ? null
        : `${decided.action} ${decided.at} ${oneLine(decided.comment ?? '', 500)}`.trim(),
    ],
    ['Revoked', revoked === null ? null : `${revoked.at} ${oneLine(revoked.reason ?? '', 500)}`.trim()],
  ];
  return facts.flatMap(([name, value]) => (value ? [`  ${name}: ${value}`] : []));
}

function tell(context: Context, allowance: Allowance, json: boolean | undefined): number {
  if (json) context.json(allowance);
  else context.say(lineOf(allowance), ...factsOf(allowance));
  return EXIT.ok;
}

interface ListOptions {
  agent?: string;
  budget?: string;
  parent?: string;
  status?: Allowance['status'][];
  label?: string;
  issuer?: string;
  json?: boolean;
}

async function printAllowances(
  context: Context,
  filters: Omit<ListOptions, 'json'>,
  json: boolean | undefined,
  linesOf: (allowance: Allowance) => string[],
  if_none: string,
): Promise<number> {
  const client = await context.client();
  let count = 0;
  for await (const allowance of client.allowances.list(filters)) {
    count += 1;
    if (json) context.json(allowance);
    else context.say(...linesOf(allowance));
  }
  if (count === 0 && !json) context.say(if_none);
  return EXIT.ok;
}

/** Lists allowances, newest first. */
function listAllowances(context: Context, { json, ...filters }: ListOptions): Promise<number> {
  return printAllowances(context, filters, json, (each) => [lineOf(each)], 'No allowances.');
}

interface CreateOptions {
  amount: string;
  currency?: string;
  agent?: string;
  budget?: string;
  parent?: string;
  period?: Allowance['period'];
  expires?: string;
  merchant?: string[];
  purpose?: string;
  label?: string[];
  maxCount?: number;
  name?: string;
  externalId?: string;
  json?: boolean;
}

function labelsOf(given: readonly string[]): Record<string, string> {
  const labels = new Map<string, string>();
  for (const each of given) {
    const at = each.indexOf(':');
    if (at < 1) throw new CommandError('--label must be a key and a value, such as customer:c42.');
    const key = each.slice(0, at);
    if (labels.has(key)) throw new CommandError(`--label gives ${key} two values; give it one.`);
    labels.set(key, each.slice(at + 1));
  }
  return Object.fromEntries(labels);
}

/** The fields that have a value. */
const stated = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof T]?: Exclude<T[Name], undefined>;
  };

/** Creates an allowance. With `externalId` a repeat returns the one that exists. */
async function createAllowance(context: Context, options: CreateOptions): Promise<number> {
  const { currency, parent, label, json } = options;
  const client = await context.client();
  // A part has the currency of its parent.
  const unit =
    currency ?? (parent === undefined ? undefined : (await client.allowances.retrieve(parent)).currency);
  if (unit === undefined) throw new CommandError('Say --currency, or --parent for a part of an allowance.');
  const amount_minor = amountOf(options.amount, unit);
  const given = {
    agent: options.agent,
    budget: options.budget,
    parent,
    currency,
    period: options.period,
    expires_at: options.expires,
    merchants: options.merchant,
    purpose: options.purpose,
    labels: label === undefined ? undefined : labelsOf(label),
    max_count: options.maxCount,
    name: options.name,
    external_id: options.externalId,
  };
  const body: CreateAllowanceRequest = { ...stated(given), amount_minor };
  return tell(context, await client.allowances.create(body), json);
}

/** Presents a signed allowance or a mandate: the text of a file, or of standard input. */
async function presentAllowance(
  context: Context,
  file: string,
  { json }: { json?: boolean },
): Promise<number> {
  const signed = (file === '-' ? await text(context.stdin) : await readText(file)).trim();
  const client = await context.client();
  return tell(context, await client.allowances.present({ signed }), json);
}

async function revokeAllowance(
  context: Context,
  id: string,
  { reason, json }: { reason?: string; json?: boolean },
): Promise<number> {
  const client = await context.client();
  const revoked = await client.allowances.revoke(id, reason === undefined ? {} : { reason });
  return tell(context, revoked, json);
}

/** Lists the requested allowances that nobody has decided, each with what it is for. */
function listRequests(context: Context, { agent, json }: ListOptions): Promise<number> {
  const whose = agent === undefined ? {} : { agent };
  return printAllowances(context, { ...whose, status: ['REQUESTED'] }, json, requestLines, 'No requests.');
}

/** A requested allowance: who asks for how much, by when to decide, and the agent's words last. */
function requestLines({ id, agent, amount_minor, currency, period, ...more }: Allowance): string[] {
  const { expires_at, request, merchants } = more;
  const amount = `${formatMoney(amount_minor, currency)}${period === 'TOTAL' ? '' : ` each ${period.toLowerCase()}`}`;
  return [
    `${id}  ${holderOf(agent)}  ${amount}  until ${expires_at}`,
    ...(request === null ? [] : [`  Decide by: ${request.decide_by}`]),
    ...(merchants === null ? [] : [`  Merchants: ${merchants.map((each) => oneLine(each, 200)).join(', ')}`]),
    ...(request === null ? [] : [`  The agent says: ${oneLine(request.purpose, 2_000)}`]),
  ];
}

interface DecideOptions {
  amount?: string;
  expires?: string;
  maxCount?: number;
  merchant?: string[];
  purpose?: string;
  comment?: string;
  json?: boolean;
}

/** Grants a requested allowance, or less of it. Only the words of `purpose` vouch for spends. */
async function grantAllowance(context: Context, id: string, options: DecideOptions): Promise<number> {
  const client = await context.client();
  const amount_minor =
    options.amount === undefined
      ? undefined
      : amountOf(options.amount, (await client.allowances.retrieve(id)).currency);
  const given = {
    amount_minor,
    expires_at: options.expires,
    max_count: options.maxCount,
    merchants: options.merchant,
    purpose: options.purpose,
    comment: options.comment,
  };
  const body: DecideAllowanceRequest = { ...stated(given), action: 'ALLOW' };
  return tell(context, await client.allowances.decide(id, body), options.json);
}

async function denyAllowance(
  context: Context,
  id: string,
  { comment, json }: Pick<DecideOptions, 'comment' | 'json'>,
): Promise<number> {
  const client = await context.client();
  const said = comment === undefined ? {} : { comment };
  return tell(context, await client.allowances.decide(id, { action: 'DENY', ...said }), json);
}

/** Adds the commands that decide requested allowances. */
function addRequests(allowances: Command, context: Context, run: Run): void {
  allowances
    .command('requests')
    .description('show the allowances that agents request and nobody has decided')
    .option('--agent <slug>', 'only of this agent')
    .option(...JSON_FLAG)
    .action(run((options: ListOptions) => listRequests(context, options)));
  allowances
    .command('grant <allowance_id>')
    .description('grant a requested allowance, or less of it; final')
    .option('--amount <amount>', 'at most this, in major units: 54.40')
    .option('--expires <time>', 'until when it can be used, at the latest what was requested')
    .option('--max-count <n>', 'the most spends in a period', wholeCount)
    .option('--merchant <name...>', 'only these merchants')
    .option('--purpose <text>', 'what it is for, in your words; vouches for the spends')
    .option('--comment <text>', 'why, recorded with it')
    .option(...JSON_FLAG)
    .action(run((id: string, options: DecideOptions) => grantAllowance(context, id, options)));
  allowances
    .command('deny <allowance_id>')
    .description('deny a requested allowance; final')
    .option('--comment <text>', 'why, recorded with it')
    .option(...JSON_FLAG)
    .action(run((id: string, options: DecideOptions) => denyAllowance(context, id, options)));
}

function wholeCount(given: string): number {
  if (!/^[1-9]\d{0,6}$/.test(given)) throw new CommandError('--max-count must be a whole number from 1.');
  return Number(given);
}

/** Adds the commands of allowances. */
export function addAllowances(program: Command, context: Context, run: Run): void {
  const allowances = program
    .command('allowances')
    .description('cap what may be spent for one task, sub-agent, user or customer');
  allowances
    .command('list')
    .description('show the allowances with their usage, newest first')
    .option('--agent <slug>', 'only of this agent')
    .option('--budget <slug>', 'only those that count toward this shared budget')
    .option('--parent <id>', 'only the parts of this allowance')
    .addOption(new Option('--status <status...>', 'only these').choices(ALLOWANCE_STATUSES))
    .option('--label <key:value>', 'only with this label, such as customer:c42')
    .option('--issuer <id>', 'only those that this issuer signed')
    .option(...JSON_FLAG)
    .action(run((options: ListOptions) => listAllowances(context, options)));
  allowances
    .command('show <allowance_id>')
    .description('show one allowance in full')
    .option(...JSON_FLAG)
    .action(
      run(async (id: string, { json }: { json?: boolean }) =>
        tell(context, await (await context.client()).allowances.retrieve(id), json),
      ),
    );
  allowances
    .command('create')
    .description('create an allowance; needs an admin key, or an agent key and --parent')
    .requiredOption('--amount <amount>', 'amount in major units: 54.40')
    .option('--currency <code>', 'EUR, USD, …; not with --parent')
    .option('--agent <slug>', 'agent that may use it; any if left out')
    .option('--budget <slug>', 'shared budget that its spends count toward, too')
    .option('--parent <id>', 'allowance that it is a part of')
    .addOption(new Option('--period <period>', 'what the amount is for').choices(BUDGET_PERIODS))
    .option('--expires <time>', 'until when it can be used; not needed with --parent')
    .option('--merchant <name...>', 'only these merchants')
    .option('--purpose <text>', 'what it is for')
    .option('--label <key:value...>', 'labels, such as customer:c42')
    .option('--max-count <n>', 'the most spends in a period', wholeCount)
    .option('--name <name>', 'name')
    .option('--external-id <id>', 'your own id; a repeat returns the allowance that exists')
    .option(...JSON_FLAG)
    .action(run((options: CreateOptions) => createAllowance(context, options)));
  allowances
    .command('present <file>')
    .description('present a signed allowance: a file with the JWT, or - for standard input')
    .option(...JSON_FLAG)
    .action(run((file: string, options: { json?: boolean }) => presentAllowance(context, file, options)));
  allowances
    .command('revoke <allowance_id>')
    .description('end an allowance and all below it from the next request on')
    .option('--reason <text>', 'why, recorded with it')
    .option(...JSON_FLAG)
    .action(
      run((id: string, options: { reason?: string; json?: boolean }) =>
        revokeAllowance(context, id, options),
      ),
    );
  addRequests(allowances, context, run);
}
