import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Purser } from '@purser/sdk';
import { MODES, type Mode } from '@purser/server/tools';
import { type PurserProcess, PurserProcessError, startPurser } from './purser-process.ts';
import { renderSpends, renderTotals, type Screen } from './report.ts';
import { type SentSpend, sendSpends } from './send-spends.ts';
import { type ExpectedSpend, readSpends, SpendsFileError } from './spends-file.ts';
import { totalsOf } from './totals.ts';

/** Where a program of this project runs: what the process has, handed over by the script that starts it. */
export interface ToolContext {
  args: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  /** Aborted when the program is asked to end. */
  signal: AbortSignal;
  stdout: { write(text: string): unknown; isTTY?: boolean; columns?: number };
  stderr: { write(text: string): unknown };
}

const OWN_SPENDS_FILE = fileURLToPath(new URL('./spends.jsonl', import.meta.url));
const WIDTH_WITHOUT_TERMINAL = 160;
/** A model that gives a second opinion may take long. */
const TIMEOUT_MS = 120_000;

const HELP = `npm run demo -- [options]

Starts the service on a temporary data directory, asks it for a decision on every spend of a file, over HTTP,
and shows what it decided. Ends by itself.

  --file FILE   spends as JSON lines; without it a set of the project's own
  --mode MODE   SHADOW (default) or ENFORCE
  --quiet       the totals only
  --json        the totals and every spend as JSON
  --help        this text
`;

interface Options {
  file: string;
  mode: Mode;
  is_quiet: boolean;
  is_json: boolean;
}

/** Null when the help is asked for. Throws TypeError, with a message for people, for arguments that are none. */
function readOptions({ args, env }: ToolContext): Options | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      file: { type: 'string' },
      mode: { type: 'string', default: 'SHADOW' },
      quiet: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  const mode = MODES.find((known) => known === values.mode);
  if (mode === undefined) throw new TypeError(`--mode ${values.mode}: must be ${MODES.join(' or ')}.`);
  // npm changes to the package's directory and tells where it was called.
  const file = values.file === undefined ? OWN_SPENDS_FILE : resolve(env.INIT_CWD ?? '.', values.file);
  return { file: relative('.', file), mode, is_quiet: values.quiet, is_json: values.json };
}

/** One spend of the `--json` output. */
function spendAsJson({ spend, decided, error, status, took_ms }: SentSpend) {
  const { id, authority_id, expected, attack, tags } = spend;
  return { id, authority_id, expected: expected.purpose, attack, tags, status, error, took_ms, ...decided };
}

async function sendAll(
  purser: PurserProcess,
  spends: readonly ExpectedSpend[],
  options: Options,
  context: ToolContext,
): Promise<boolean> {
  const { stdout, stderr, env, signal } = context;
  // Whatever fails is to be seen, and not to be tried again.
  const client = new Purser({
    baseURL: purser.base_url,
    apiKey: purser.admin_key,
    maxRetries: 0,
    timeout: TIMEOUT_MS,
  });
  const shows_progress = stdout.isTTY === true && !options.is_json;
  let done = 0;
  const onSent = () => {
    done += 1;
    if (shows_progress) stdout.write(`\r${done} of ${spends.length} spends`);
  };
  const all = await sendSpends(client, spends, options.mode, onSent, signal);
  const { valid, events_checked, head, duration_ms } = await client.ledger.verify();
  const totals = totalsOf(all, { valid, events_checked, head, duration_ms });
  if (options.is_json) {
    const report = { file: options.file, mode: options.mode, ...totals, results: all.map(spendAsJson) };
    stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  } else {
    if (shows_progress) stdout.write('\r\u001b[K');
    const screen: Screen = {
      width: stdout.columns ?? WIDTH_WITHOUT_TERMINAL,
      has_colour: stdout.isTTY === true && !env.NO_COLOR,
    };
    const table = options.is_quiet ? [] : renderSpends(all, screen);
    stdout.write(`${[...table, ...renderTotals(totals, screen)].join('\n').trimStart()}\n`);
  }
  const failures = all.filter(({ status, error }) => error !== null && (status >= 500 || status === 201));
  if (failures.length > 0) {
    stderr.write(`The service failed on ${failures.length} spends. The end of its output:\n`);
    stderr.write(`${await purser.lastOutput()}\n`);
  }
  return valid && failures.length === 0;
}

/**
 * Runs the demo and resolves with the exit code: 0 when it ran through, 1 when the service failed or its ledger
 * is not valid, 2 for wrong arguments or a file that cannot be used, 130 when it was asked to end.
 */
export async function main(context: ToolContext): Promise<number> {
  const { signal, stdout, stderr } = context;
  let options: Options | null;
  let spends: ExpectedSpend[];
  try {
    options = readOptions(context);
    if (options === null) {
      stdout.write(HELP);
      return 0;
    }
    spends = await readSpends(options.file);
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof SpendsFileError)) throw error;
    stderr.write(`${error.message}\n`);
    return 2;
  }

  let purser: PurserProcess | null = null;
  try {
    if (!options.is_json) {
      stdout.write(`Purser demo: ${spends.length} spends from ${options.file}, mode ${options.mode}.\n\n`);
    }
    purser = await startPurser({
      settings: { BOOTSTRAP_PLAN: 'enterprise', RATE_LIMIT_PER_MINUTE: '10000000', LOG_LEVEL: 'warn' },
      // A model that gives a second opinion is worth seeing at work.
      inherited: [
        'PURPOSE_MODEL_URL',
        'PURPOSE_MODEL',
        'PURPOSE_MODEL_API_KEY',
        'PURPOSE_MODEL_MAY_CLEAR',
        'PURPOSE_MODEL_TIMEOUT_MS',
        'PURPOSE_MODEL_MAX_CONCURRENT',
        'PURPOSE_MODEL_PARAMETERS',
      ],
      env: context.env,
      signal,
    });
    return (await sendAll(purser, spends, options, context)) ? 0 : 1;
  } catch (error) {
    if (signal.aborted) return 130;
    stderr.write(`${(error as Error).message}\n`);
    if (purser !== null && !(error instanceof PurserProcessError)) {
      stderr.write(`The end of the service's output:\n${await purser.lastOutput()}\n`);
    }
    return 1;
  } finally {
    await purser?.stop();
  }
}
