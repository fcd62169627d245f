import { INBOX_GROUPS, INBOX_SORTS } from '@purser/contract/reviews/inbox';
import { BUDGET_PERIODS } from '@purser/contract/values/budgets';
import { CHANNEL_TYPES } from '@purser/contract/values/channels';
import { WEBHOOK_EVENT_TYPES } from '@purser/contract/values/webhooks';
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { addAllowances } from './allowances.ts';
import { amountOf } from './amount.ts';
import * as authority from './authority.ts';
import { testFiles } from './authority-tests.ts';
import {
  type AddChannelOptions,
  addChannel,
  listChannels,
  removeChannel,
  setChannelStatus,
  testChannel,
} from './channels.ts';
import { completionScript, SHELLS, type Shell } from './completion.ts';
import type { Context } from './context.ts';
import { ask, type TailOptions, tail } from './decisions.ts';
import { type EventType, type ListenOptions, listen, trigger } from './events.ts';
import { CommandError, EXIT, told } from './failure.ts';
import { addHistory } from './history/history-commands.ts';
import { type ImportOptions, importFile } from './history/import-file.ts';
import { CLIENTS, type McpClient, printConfiguration, serve } from './mcp.ts';
import { addModels } from './models.ts';
import {
  type AnswerOptions,
  answerQuestion,
  forgetAnswer,
  listQuestions,
  type QuestionListOptions,
} from './questions.ts';
import { report } from './report.ts';
import { addReviewPolicy } from './review-policy.ts';
import { type InboxOptions, inbox } from './reviews/inbox.ts';
import { type ReviewOptions, review } from './reviews/review.ts';
import type { Run } from './run.ts';
import { listSigningKeys } from './signing-keys.ts';
import { VERSION } from './version.ts';

const HELP_AFTER = `
Environment:
  PURSER_API_KEY          the key; or put it into ~/.config/purser/key (chmod 600). Never an argument.
  PURSER_BASE_URL         the address of Purser; default http://127.0.0.1:8080
  PURSER_WEBHOOK_SECRET   the secret that listen and trigger sign with

Exit codes: 0 done, 1 failed, 2 done with a negative result (differs, denied, a test failed).`;

const FILE = ['-f, --file <file>', 'YAML or JSON: agent and authority'] as const;
const JSON_FLAG = ['--json', 'print JSON instead of text'] as const;

function wholeNumber(text: string): number {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(number)) throw new InvalidArgumentError('must be a whole number.');
  return number;
}

function address(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text))
    throw new InvalidArgumentError('must be an http or https URL.');
  return text;
}

/** Returns the command line. `done` is given the exit code of the command that ran. */
function makeProgram(context: Context, done: (code: number) => void): Command {
  const program = new Command('purser')
    .description('Manage what agents may spend, and review their requests.')
    .version(VERSION)
    .addHelpText('after', HELP_AFTER)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void context.stdout.write(text),
      writeErr: (text) => void context.stderr.write(text),
    });
  const run: Run =
    (act) =>
    async (...args) =>
      done(await act(...args));
  // The help lists them in this order.
  for (const add of [
    addAuthority,
    addAsk,
    addReview,
    addQuestions,
    addSigningKeys,
    addReviewPolicy,
    addAllowances,
    addChannels,
    addModels,
    addImport,
    addHistory,
    addEvents,
    addMcp,
    addCompletion,
  ])
    add(program, context, run);
  return program;
}

function addAuthority(program: Command, context: Context, run: Run): void {
  const policy = program.command('authority').description("keep an agent's authority as a file");
  policy
    .command('pull <agent>')
    .description('write the current authority to a file or to standard output')
    .option('-f, --file <file>', 'file to write')
    .option('--force', 'overwrite an existing file')
    .option('--json', 'JSON instead of YAML')
    .action(run((agent: string, options: object) => authority.pull(context, agent, options)));
  policy
    .command('diff')
    .description(
      'show what a file would change, what it widens, and how past decisions would differ; exits 2 if it differs',
    )
    .requiredOption(...FILE)
    .option(...JSON_FLAG)
    .action(run((options: { file: string }) => authority.diff(context, options)));
  policy
    .command('apply')
    .description('apply a file, unless somebody else changed the version it is based on')
    .requiredOption(...FILE)
    .option('-y, --yes', 'do not ask')
    .option('--note <text>', 'reason, recorded with the version')
    .option(...JSON_FLAG)
    .action(run((options: { file: string }) => authority.apply(context, options)));
  policy
    .command('test [paths...]')
    .description('run the test cases in authority files or directories; exits 2 if one fails')
    .option(...FILE)
    .option(...JSON_FLAG)
    .action(run((paths: string[], options: { file?: string }) => testFiles(context, paths, options)));

  program
    .command('simulate')
    .description('show how a draft would have decided recent spends')
    .requiredOption(...FILE)
    .option('--limit <n>', 'number of newest decisions to replay; default 500', wholeNumber)
    .option('--from <time>', 'only decisions from this date or time on')
    .option('--to <time>', 'only decisions before this time, or up to the end of this date')
    .option(...JSON_FLAG)
    .action(run((options: { file: string }) => authority.simulate(context, options)));

  program
    .command('report')
    .description('show what SHADOW would have decided, asked and missed')
    .option('--agent <slug>', 'only this agent')
    .option('--from <time>', 'from this date or time on; default: the last 30 days')
    .option('--to <time>', 'before this time, or up to the end of this date')
    .option(...JSON_FLAG)
    .action(run((options: { agent?: string }) => report(context, options)));
}

function addAsk(program: Command, context: Context, run: Run): void {
  program
    .command('ask')
    .description('request one spend, as an agent in SHADOW would; exits 2 unless it is allowed')
    .requiredOption('--merchant <name>', 'merchant to be paid')
    .requiredOption('--amount <amount>', 'amount in major units: 54.40')
    .requiredOption('--currency <code>', 'EUR, USD, …')
    .option('--agent <slug>', 'agent that makes the request; not needed with an agent key')
    .option('--type <type>', 'purchase, subscription, …', 'purchase')
    .option('--description <text>', 'what is bought, and why')
    .option('--payee <id>', '<rail>:<id>')
    .option('--task <text>', 'task that needs the purchase')
    .option('--allowance <id>', 'allowance to spend under (alw_…)')
    .option('--name <name>', 'name of the purchase; one name is one purchase')
    .option('--for-real', 'also for an agent in ENFORCE, where a request holds money')
    .option(...JSON_FLAG)
    .action(
      run((options: Omit<Parameters<typeof ask>[1], 'amount'> & { amount: string }) => {
        const amount_minor = amountOf(options.amount, options.currency);
        return ask(context, { ...options, amount: { amount_minor } });
      }),
    );
}

function addReview(program: Command, context: Context, run: Run): void {
  program
    .command('review [decision_id]')
    .description('review pending decisions one by one, or a single decision')
    .option('--watch', 'keep waiting for new ones, until Ctrl-C')
    .addOption(new Option('--allow', 'allow this decision').conflicts('deny'))
    .addOption(new Option('--deny', 'deny this decision').conflicts(['always', 'never', 'upTo']))
    .addOption(
      new Option('--always', 'allow it, and list the merchant as allowed').conflicts(['allow', 'never']),
    )
    .addOption(new Option('--never', 'deny it, and list the merchant as blocked').conflicts('allow'))
    .addOption(
      new Option(
        '--up-to <amount>',
        'allow it, and answer later requests like it up to this amount, in major units',
      ).conflicts(['never']),
    )
    .addOption(new Option('--period <period>', 'what --up-to is for; a month').choices([...BUDGET_PERIODS]))
    .option('--until <time>', 'when --up-to ends; in 90 days')
    .option('--reason <code>', 'reason code: A-Z, 0-9 and _')
    .option('--comment <text>', 'why, in words')
    .option(...JSON_FLAG)
    .action(run((id: string | undefined, options: ReviewOptions) => review(context, id, options)));

  program
    .command('inbox')
    .description('list the pending reviews, those that expire soonest first')
    .option('--agent <slug>', 'only this agent')
    .option('--search <text>', 'part of a merchant, description, task, note or id')
    .option('--currency <code>', 'only requests in this currency')
    .option('--reason <code>', 'only requests that wait for this reason')
    .addOption(new Option('--sort <order>', 'order').choices([...INBOX_SORTS]))
    .addOption(new Option('--group <by>', 'count them in groups').choices([...INBOX_GROUPS]))
    .option('--mine', 'only those assigned to you')
    .option(...JSON_FLAG)
    .action(run((options: InboxOptions) => inbox(context, options)));

  program
    .command('decisions')
    .description('list decisions')
    .command('tail')
    .description('show the newest decisions and follow new ones, until Ctrl-C')
    .option('--agent <slug>', 'only this agent')
    .addOption(new Option('--decision <kind>', 'only these').choices(['ALLOW', 'REVIEW', 'DENY']))
    .option('-n, --lines <n>', 'number of decisions to start with, at most 200', wholeNumber, 10)
    .option('--no-follow', 'exit after these')
    .option(...JSON_FLAG)
    .action(run((options: TailOptions) => tail(context, options)));
}

function addImport(program: Command, context: Context, run: Run): void {
  program
    .command('import <file>')
    .description(
      'import a file of what a card, bank account or model provider says was paid; exits 2 if lines are bad, 1 if it was not done',
    )
    .option('--feed <name>', 'account or rail of a CSV file, or of lines in JSON')
    .option('--agent <slug>', 'whose the lines are, unless their card or account is assigned')
    .option('--mapping <file>', 'JSON: how the columns of a CSV file are read')
    .option('-y, --yes', 'do not ask')
    .option(...JSON_FLAG)
    .action(run((file: string, options: ImportOptions) => importFile(context, file, options)));
}

function addChannels(program: Command, context: Context, run: Run): void {
  const channel = program
    .command('channel')
    .description('manage the channels that are notified of requests; needs an admin key');
  channel
    .command('list')
    .description('show the channels with their health')
    .option(...JSON_FLAG)
    .action(run((options: { json?: boolean }) => listChannels(context, options)));
  channel
    .command('add <name>')
    .description('add a channel')
    .addOption(new Option('--type <type>', 'type').choices(CHANNEL_TYPES).makeOptionMandatory())
    .option('--url <url>', 'URL; of a webhook type. Without it, it is read from PURSER_CHANNEL_URL')
    .option('--address <email...>', 'addresses, of the type email')
    .option(
      '--slack-channel <id>',
      'channel of the type slack_app; its tokens are read from PURSER_SLACK_APP_TOKEN and PURSER_SLACK_BOT_TOKEN',
    )
    .option('--agent <slug...>', 'only requests of these agents')
    .option('--currency <code>', 'only requests in this currency')
    .option('--from-minor <n>', 'only requests of at least this amount, in minor units', wholeNumber)
    .option('--hide-claims', "leave out the agent's description")
    .option(...JSON_FLAG)
    .action(run((name: string, options: AddChannelOptions) => addChannel(context, name, options)));
  channel
    .command('test <channel_id>')
    .description('send a test notice and wait for its result; exits 2 if it failed')
    .option(...JSON_FLAG)
    .action(run((id: string, options: { json?: boolean }) => testChannel(context, id, options)));
  for (const [name, status] of [
    ['enable', 'active'],
    ['disable', 'disabled'],
  ] as const) {
    channel
      .command(`${name} <channel_id>`)
      .description(`${name} a channel`)
      .action(run((id: string) => setChannelStatus(context, id, status)));
  }
  channel
    .command('remove <channel_id>')
    .description('delete a channel')
    .action(run((id: string) => removeChannel(context, id)));
}

function addQuestions(program: Command, context: Context, run: Run): void {
  const questions = program
    .command('questions')
    .description("list, answer and forget what made an agent's requests unclear");
  questions
    .command('list <agent>')
    .description('show the questions with their answers')
    .addOption(new Option('--state <state>', 'only these').choices(['open', 'answered']))
    .option(...JSON_FLAG)
    .action(run((agent: string, options: QuestionListOptions) => listQuestions(context, agent, options)));
  questions
    .command('answer <agent> <question_id>')
    .description('answer a question for all later requests')
    .addOption(new Option('--yes', 'approve it').conflicts('no'))
    .addOption(new Option('--no', 'reject it'))
    .option('--comment <text>', 'why, in words')
    .option(...JSON_FLAG)
    .action(
      run((agent: string, id: string, options: AnswerOptions & { no?: boolean }) => {
        if (!options.yes && !options.no) throw new CommandError('Say --yes or --no.');
        return answerQuestion(context, agent, id, options);
      }),
    );
  questions
    .command('forget <agent> <question_id>')
    .description('open a question again; needs an admin key')
    .action(run((agent: string, id: string) => forgetAnswer(context, agent, id)));
}

function addSigningKeys(program: Command, context: Context, run: Run): void {
  program
    .command('signing-keys')
    .description('list the keys that people sign approvals with, and their fingerprints')
    .option(...JSON_FLAG)
    .action(run((options: { json?: boolean }) => listSigningKeys(context, options)));
}

function addEvents(program: Command, context: Context, run: Run): void {
  program
    .command('listen')
    .description('forward events to a receiver in development, until Ctrl-C; needs an admin key')
    .requiredOption('--forward-to <url>', 'URL to post events to', address)
    .option('--after <event_id>', 'start after this event; default: now')
    .option('--no-follow', 'exit after the newest')
    .option(...JSON_FLAG)
    .action(run((options: ListenOptions) => listen(context, options)));

  program
    .command('trigger')
    .description('send a sample event to a receiver; exits 2 unless it is accepted')
    .addArgument(new Argument('<type>', 'event type').choices(WEBHOOK_EVENT_TYPES))
    .requiredOption('--forward-to <url>', 'URL to post the event to', address)
    .option(...JSON_FLAG)
    .action(run((type: EventType, options: { forwardTo: string }) => trigger(context, type, options)));
}

function addMcp(program: Command, context: Context, run: Run): void {
  program
    .command('mcp')
    .description(
      'serve the Model Context Protocol on standard input and output; at a terminal, show how to set up clients',
    )
    .action(run(() => serve(context)))
    .command('config')
    .description('print the configuration of a client')
    .addArgument(new Argument('[client]', 'the client; default: all').choices(CLIENTS))
    .option('--http', "use the service's own /mcp endpoint (default)")
    .addOption(new Option('--stdio', 'run the program, which npx gets from the service').conflicts('http'))
    .option(...JSON_FLAG)
    .action(
      run((client: McpClient | undefined, options: object) => printConfiguration(context, client, options)),
    );
}

function addCompletion(program: Command, context: Context, run: Run): void {
  program
    .command('completion')
    .description('print a script for a shell: source <(purser completion bash)')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .action(
      run((shell: Shell) => {
        context.stdout.write(completionScript(shell, program));
        return EXIT.ok;
      }),
    );
}

/** Runs a command line; resolves with the exit code. Errors are told in a line on standard error. */
export async function runProgram(context: Context, args: readonly string[]): Promise<number> {
  let code: number = EXIT.ok;
  const program = makeProgram(context, (given) => {
    code = given;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    // Commander has told it already.
    if (error instanceof CommanderError) return error.exitCode;
    context.stderr.write(`purser: ${told(error)}\n`);
    return EXIT.failed;
  }
}
