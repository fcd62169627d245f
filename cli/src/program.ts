import { minorUnits } from '@purser/mcp/money';
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import * as authority from './authority.ts';
import { testFiles } from './authority-tests.ts';
import { completionScript, SHELLS, type Shell } from './completion.ts';
import type { Context } from './context.ts';
import { ask, type TailOptions, tail } from './decisions.ts';
import { EVENT_TYPES, type EventType, type ListenOptions, listen, trigger } from './events.ts';
import { CommandError, EXIT, told } from './failure.ts';
import { CLIENTS, type McpClient, printConfiguration, serve } from './mcp.ts';
import { type ReviewOptions, review } from './review.ts';
import { VERSION } from './version.ts';

const HELP_AFTER = `
Environment:
  PURSER_API_KEY          the key; or put it into ~/.config/purser/key (chmod 600). Never an argument.
  PURSER_BASE_URL         where Purser is; default http://127.0.0.1:8080
  PURSER_WEBHOOK_SECRET   what listen and trigger sign with

Exit codes: 0 done, 1 it could not be done, 2 done and the answer is no (differs, denied, a test failed).`;

const FILE = ['-f, --file <file>', 'YAML or JSON: agent and authority'] as const;
const JSON_FLAG = ['--json', 'data instead of words'] as const;

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

/** Makes the command line. `done` is told the exit code of the command that ran. */
function makeProgram(context: Context, done: (code: number) => void): Command {
  const program = new Command('purser')
    .description('Purser on the command line: what agents may spend, and what they ask for.')
    .version(VERSION)
    .addHelpText('after', HELP_AFTER)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void context.stdout.write(text),
      writeErr: (text) => void context.stderr.write(text),
    });
  const run =
    <Args extends unknown[]>(act: (...args: Args) => number | Promise<number>) =>
    async (...args: Args) =>
      done(await act(...args));

  const policy = program.command('authority').description('what an agent may spend, as a file');
  policy
    .command('pull <agent>')
    .description('write what is in force into a file, or to standard output')
    .option('-f, --file <file>', 'the file to write')
    .option('--force', 'write over a file that is there')
    .option('--json', 'JSON instead of YAML')
    .action(run((agent: string, options: object) => authority.pull(context, agent, options)));
  policy
    .command('diff')
    .description(
      'tell what a file would change, what widens, and what it would have decided; ends with 2 if it differs',
    )
    .requiredOption(...FILE)
    .option(...JSON_FLAG)
    .action(run((options: { file: string }) => authority.diff(context, options)));
  policy
    .command('apply')
    .description('put a file in force, unless somebody else changed what it was written against')
    .requiredOption(...FILE)
    .option('-y, --yes', 'do not ask')
    .option('--note <text>', 'why, for the history')
    .option(...JSON_FLAG)
    .action(run((options: { file: string }) => authority.apply(context, options)));
  policy
    .command('test [paths...]')
    .description(
      'hold the authorities of files, or of the files of a directory, against spends that are thought up and decisions that were made; ends with 2 if one fails',
    )
    .option(...FILE)
    .option(...JSON_FLAG)
    .action(run((paths: string[], options: { file?: string }) => testFiles(context, paths, options)));

  program
    .command('simulate')
    .description('what a draft would have decided of recent spends')
    .requiredOption(...FILE)
    .option('--limit <n>', 'how many of the newest decisions; default 500', wholeNumber)
    .option('--from <time>', 'only decisions from this date or moment on')
    .option('--to <time>', 'only decisions before this moment, or within this date')
    .option(...JSON_FLAG)
    .action(run((options: { file: string }) => authority.simulate(context, options)));

  addAsk(program, context, run);

  program
    .command('review [decision_id]')
    .description('walk through what waits for a person, or review one decision')
    .option('--watch', 'go on with what comes later, until Ctrl-C')
    .addOption(new Option('--allow', 'allow this decision').conflicts('deny'))
    .option('--deny', 'deny this decision')
    .option('--reason <code>', 'why: A-Z, 0-9 and _')
    .option('--comment <text>', 'why, in words')
    .option(...JSON_FLAG)
    .action(run((id: string | undefined, options: ReviewOptions) => review(context, id, options)));

  program
    .command('decisions')
    .description('what agents ask for')
    .command('tail')
    .description('show the newest decisions, and each that is made, until Ctrl-C')
    .option('--agent <slug>', 'only of this agent')
    .addOption(new Option('--decision <kind>', 'only these').choices(['ALLOW', 'REVIEW', 'DENY']))
    .option('-n, --lines <n>', 'how many to begin with, at most 200', wholeNumber, 10)
    .option('--no-follow', 'end after these')
    .option(...JSON_FLAG)
    .action(run((options: TailOptions) => tail(context, options)));

  program
    .command('listen')
    .description('hand events on to a receiver that is being developed, until Ctrl-C; needs an admin key')
    .requiredOption('--forward-to <url>', 'where they are posted', address)
    .option('--after <event_id>', 'begin after this event; default: now')
    .option('--no-follow', 'end with the newest')
    .option(...JSON_FLAG)
    .action(run((options: ListenOptions) => listen(context, options)));

  program
    .command('trigger')
    .description('send a sample of an event to a receiver; ends with 2 unless it is taken')
    .addArgument(new Argument('<type>', 'the type of event').choices(EVENT_TYPES))
    .requiredOption('--forward-to <url>', 'where it is posted', address)
    .option(...JSON_FLAG)
    .action(run((type: EventType, options: { forwardTo: string }) => trigger(context, type, options)));

  program
    .command('mcp')
    .description(
      'serve the Model Context Protocol on standard input and output; at a terminal, tell how to set clients up',
    )
    .action(run(() => serve(context)))
    .command('config')
    .description('print the configuration of a client')
    .addArgument(new Argument('[client]', 'which one; default all').choices(CLIENTS))
    .option('--http', 'of the service itself, at /mcp')
    .option(...JSON_FLAG)
    .action(
      run((client: McpClient | undefined, options: object) => printConfiguration(context, client, options)),
    );

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
  return program;
}

type Run = <Args extends unknown[]>(
  act: (...args: Args) => number | Promise<number>,
) => (...args: Args) => Promise<void>;

function addAsk(program: Command, context: Context, run: Run): void {
  program
    .command('ask')
    .description('ask for one spend, as an agent in SHADOW would; ends with 2 unless it is allowed')
    .requiredOption('--merchant <name>', 'who would be paid')
    .requiredOption('--amount <amount>', 'in major units: 54.40')
    .requiredOption('--currency <code>', 'EUR, USD, …')
    .option('--agent <slug>', 'who asks; not needed with the key of an agent')
    .option('--type <type>', 'purchase, subscription, …', 'purchase')
    .option('--description <text>', 'what, and why')
    .option('--payee <id>', '<rail>:<id>')
    .option('--task <text>', 'the task it is for')
    .option('--name <name>', 'the name of the purchase; the same name is one purchase')
    .option('--for-real', 'also of an agent in ENFORCE, where asking holds money')
    .option(...JSON_FLAG)
    .action(
      run((options: Omit<Parameters<typeof ask>[1], 'amount'> & { amount: string }) => {
        const amount = minorUnits(options.amount, options.currency);
        if ('problem' in amount) throw new CommandError(`--amount ${amount.problem}.`);
        return ask(context, { ...options, amount });
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
