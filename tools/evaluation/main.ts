import { writeFile } from 'node:fs/promises';
import { basename, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  ApiError,
  AuthorityBody,
  assessBuiltIn,
  ConfigError,
  compileSchema,
  DecisionRequest,
  METHOD,
  readConfig,
} from '@purser/server/tools';
import type { ToolContext } from '../demo/main.ts';
import { readSpends, SpendsFileError } from '../demo/spends-file.ts';
import { percentilesOf } from '../demo/totals.ts';
import { judgeCases } from './measure.ts';
import { makeJudge, measureModel, renderModel } from './model.ts';
import { type Measured, renderPage, renderTerminal } from './report.ts';

const OWN_FILES = [
  './cases/apart-held-out.jsonl',
  './cases/apart-tuned-on.jsonl',
  './cases/cases.jsonl',
  '../demo/spends.jsonl',
].map((path) => fileURLToPath(new URL(path, import.meta.url)));
const PAGE = fileURLToPath(new URL('../../../docs/reference/purpose-evaluation.md', import.meta.url));
const WIDTH_WITHOUT_TERMINAL = 200;
const ROUNDS = 40;

const HELP = `npm run eval -- [options]

Judges the cases of files with the built-in assessor and compares with what is expected. No service, no network.

  --file FILE       cases as JSON lines, may be given several times; without it the project's own
  --mistakes N      how many of the gravest mistakes to show with what they stand on (default 10)
  --json            every case as JSON
  --model           rules and the model of PURPOSE_MODEL_URL and PURPOSE_MODEL together: how often it agrees, what
                    passes, what is kept, time, tokens, cost, and whether it may clear; asks it about every open case
  --write           writes the tables to docs/reference/purpose-evaluation.md
  --help            this text
`;

const checkAuthority = compileSchema(AuthorityBody, 'body');
const checkRequest = compileSchema(DecisionRequest, 'body');

/**
 * The cases of a file, each as the service would take it. Throws `SpendsFileError` that names the first case that it
 * would refuse, and the field.
 */
async function readCases(file: string): ReturnType<typeof readSpends> {
  const cases = await readSpends(file);
  for (const { id, authority, request } of cases) {
    try {
      if (authority !== null) checkAuthority(authority);
      checkRequest(request);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      throw new SpendsFileError(`${file}: the case "${id}" would be refused: ${error.message}`);
    }
  }
  return cases;
}

/** Microseconds a case, after a first round that warms up. */
function timesOf(cases: Parameters<typeof judgeCases>[0]): number[] {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { authority, request } of cases) {
      if (authority === null) continue;
      const from = process.hrtime.bigint();
      assessBuiltIn(authority as never, request as never);
      if (round > 0) times.push(Number(process.hrtime.bigint() - from) / 1_000);
    }
  }
  return times;
}

/** Measures the model of the settings on the cases of files. */
async function evaluateModel(
  files: readonly string[],
  { env, stdout, stderr }: Pick<ToolContext, 'env' | 'stdout' | 'stderr'>,
): Promise<number> {
  const config = readConfig(env);
  const { judge, stop } = await makeJudge(config, (line) => stderr.write(`${line}\n`));
  try {
    for (const file of files) {
      const cases = await readCases(relative('.', file));
      const at_once = config.purpose_model_max_concurrent;
      const measured = await measureModel(cases, assessBuiltIn, judge, at_once);
      stdout.write(`${renderModel(basename(file), measured, config.purpose_model_prices)}\n`);
    }
    return 0;
  } finally {
    await stop();
  }
}

/** Runs the evaluation and resolves with the exit code: 0, or 2 for wrong arguments or a file that cannot be used. */
export async function main({ args, env, stdout, stderr }: ToolContext): Promise<number> {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        file: { type: 'string', multiple: true },
        mistakes: { type: 'string', default: '10' },
        json: { type: 'boolean', default: false },
        model: { type: 'boolean', default: false },
        write: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) {
      stdout.write(HELP);
      return 0;
    }
    if (!/^\d{1,4}$/.test(values.mistakes)) throw new TypeError('--mistakes must be a whole number.');
    // npm changes to the package's directory and tells where it was called.
    const files = values.file?.map((file) => resolve(env.INIT_CWD ?? '.', file)) ?? OWN_FILES;
    if (values.model) return await evaluateModel(files, { env, stdout, stderr });
    const all: Measured[] = [];
    for (const file of files) {
      const cases = await readCases(relative('.', file));
      const measured = {
        name: basename(file),
        cold: judgeCases(cases, assessBuiltIn, false),
        warm: judgeCases(cases, assessBuiltIn, true),
      };
      all.push(measured);
      if (values.json) {
        const lines = measured.cold.map(({ request: _, ...one }) =>
          JSON.stringify({ file: measured.name, ...one }),
        );
        stdout.write(`${lines.join('\n')}\n`);
      } else {
        const width = stdout.columns ?? WIDTH_WITHOUT_TERMINAL;
        const times = percentilesOf(timesOf(cases));
        stdout.write(renderTerminal(measured, times, width, Number(values.mistakes)));
      }
    }
    if (values.write) {
      await writeFile(PAGE, renderPage(all, METHOD));
      stderr.write(`${relative('.', PAGE)} written\n`);
    }
    return 0;
  } catch (error) {
    const is_expected = [SpendsFileError, TypeError, ConfigError].some((kind) => error instanceof kind);
    if (!(error instanceof Error) || !is_expected) throw error;
    stderr.write(`${error.message}\n`);
    return 2;
  }
}
