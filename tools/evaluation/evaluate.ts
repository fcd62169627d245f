import { readFile, writeFile } from 'node:fs/promises';
import { basename, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  ApiError,
  type Assess,
  AuthorityBody,
  assessBuiltIn,
  ConfigError,
  compileSchema,
  DecisionRequest,
  METHOD,
  makeBuiltInAssessor,
  readConfig,
} from '@purser/server/tools';
import type { ToolContext } from '../demo/main.ts';
import { readSpends, SpendsFileError } from '../demo/spends-file.ts';
import { percentilesOf } from '../demo/totals.ts';
import { measureChecks, measureConflicts } from './conflicts.ts';
import { measureMadeJudges, renderMadeJudges } from './made-judges.ts';
import { judgeCases, type Share } from './measure.ts';
import { makeJudge, measureModel, renderModel } from './model.ts';
import { measureAdditions, measureWarm } from './modes.ts';
import { type MonthSettings, measureMonths, renderMonths } from './month-report.ts';
import { type Measured, renderPage, renderTerminal, renderUnseen, unseenIn } from './report.ts';
import { measureSentences } from './sentences.ts';
import { measureStanding, renderStanding } from './standing-report.ts';
import { renderTimes } from './times.ts';
import { countLooks, isUnseen, recordLook, recordMonthLook } from './unseen.ts';

const OWN_FILES = [
  './cases/trades-unseen.jsonl',
  './cases/apart-held-out.jsonl',
  './cases/desks-held-out.jsonl',
  './cases/trades-seen.jsonl',
  './cases/apart-tuned-on.jsonl',
  './cases/desks-tuned-on.jsonl',
  './cases/cases.jsonl',
  '../demo/spends.jsonl',
].map((path) => fileURLToPath(new URL(path, import.meta.url)));
const PAGE = fileURLToPath(new URL('../../../docs/reference/purpose-evaluation.md', import.meta.url));
const WIDTH_WITHOUT_TERMINAL = 200;
const ROUNDS = 40;

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

/** The files given, else the project's own whose totals may be looked at as often as one likes. */
function seenOr(files: readonly string[]): readonly string[] {
  const unseen = files.find(isUnseen);
  if (unseen !== undefined) {
    throw new TypeError(`${basename(unseen)} is put aside to judge by: --unseen WHY tells its totals.`);
  }
  return files.length > 0 ? files : OWN_FILES.filter((file) => !isUnseen(file));
}

/** Microseconds a case, after a first round that warms up. */
function timesOf(cases: Parameters<typeof judgeCases>[0], assess: Assess): number[] {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { authority, request } of cases) {
      if (authority === null) continue;
      const from = process.hrtime.bigint();
      assess(authority as never, request as never);
      if (round > 0) times.push(Number(process.hrtime.bigint() - from) / 1_000);
    }
  }
  return times;
}

/** What is to be measured, and what of it is shown. */
export interface EvaluationOptions {
  /** Files with cases; without any, the project's own. */
  files: readonly string[];
  mistakes: number;
  json: boolean;
  write: boolean;
  /** Why the totals of the unseen cases are to be told too; undefined: they are not. */
  unseen: string | undefined;
  /** Ids of conflicts that are left out. */
  without: ReadonlySet<string>;
}

/**
 * Judges the files and prints what came of them. Throws `SpendsFileError` for a file that cannot be used, and `TypeError`
 * where unseen cases would be told that may not be.
 */
export async function evaluate(
  options: EvaluationOptions,
  { stdout, stderr }: Pick<ToolContext, 'stdout' | 'stderr'>,
): Promise<void> {
  const assess = options.without.size === 0 ? assessBuiltIn : makeBuiltInAssessor([], options.without);
  if (options.unseen !== undefined) {
    const day = new Date().toISOString().slice(0, 10);
    await recordLook({ day, method: METHOD, why: options.unseen });
  }
  const all: Measured[] = [];
  const seen: Awaited<ReturnType<typeof readCases>> = [];
  for (const file of options.unseen === undefined ? seenOr(options.files) : OWN_FILES) {
    const cases = await readCases(relative('.', file));
    const measured = {
      name: basename(file),
      cold: judgeCases(cases, assess),
      additions: measureAdditions(cases, assess),
      warm: measureWarm(cases, assess),
    };
    all.push(measured);
    if (!isUnseen(file)) seen.push(...cases);
    if (options.json) {
      const lines = measured.cold.map(({ request: _, ...one }) =>
        JSON.stringify({ file: measured.name, ...one }),
      );
      stdout.write(`${lines.join('\n')}\n`);
    } else {
      const width = stdout.columns ?? WIDTH_WITHOUT_TERMINAL;
      const times = percentilesOf(timesOf(cases, assess));
      stdout.write(renderTerminal(measured, times, width, options.mistakes));
    }
  }
  if (!options.write) return;
  const conflicts = { firings: measureConflicts(seen), checks: measureChecks(seen) };
  const unseen =
    options.unseen === undefined ? unseenIn(await readFile(PAGE, 'utf8')) : renderUnseen(all, METHOD);
  const page = renderPage(all, { method: METHOD, conflicts, unseen, looks: await countLooks() });
  await writeFile(PAGE, page);
  stderr.write(`${relative('.', PAGE)} written\n`);
}

/** True for an error that says what is wrong with a file or a setting. */
export function isExpected(error: unknown): error is Error {
  return [SpendsFileError, TypeError, ConfigError].some((kind) => error instanceof kind);
}

/** Measures the model of the settings on the cases of files; without any, on the project's own seen ones. Resolves with 0. */
export async function evaluateModel(
  files: readonly string[],
  { env, stdout, stderr }: Pick<ToolContext, 'env' | 'stdout' | 'stderr'>,
): Promise<number> {
  const readable = seenOr(files);
  const config = readConfig(env);
  const { judge, stop } = await makeJudge(config, (line) => stderr.write(`${line}\n`));
  try {
    for (const file of readable) {
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

/** Prints what rules and judges that are wrong in known ways come to together. */
export async function evaluateJudges(files: readonly string[], stdout: ToolContext['stdout']): Promise<void> {
  for (const file of seenOr(files)) {
    const measured = await measureMadeJudges(await readCases(relative('.', file)), assessBuiltIn);
    stdout.write(`${renderMadeJudges(basename(file), measured)}\n`);
  }
}

const RUNS = fileURLToPath(new URL('./cases/runs-seen.jsonl', import.meta.url));

/** Prints what the words of allowances do; without files to the project's own cases that may be looked at as often as one likes. */
export async function evaluateAllowances(
  files: readonly string[],
  stdout: ToolContext['stdout'],
): Promise<void> {
  for (const file of files.length === 0 ? [RUNS] : seenOr(files)) {
    const found = measureSentences(await readCases(relative('.', file)), assessBuiltIn);
    const { kept, kept_without, slipped, slipped_without } = found;
    const shown = ({ count, of }: Share) => `${count} of ${of}`;
    stdout.write(
      `${basename(file)}: right spends ALIGNED ${shown(kept)} (without the words ${shown(kept_without)}), wrong ones ${shown(slipped)} (without ${shown(slipped_without)})\n`,
    );
  }
}

const MONTH_PAGE = fileURLToPath(new URL('../../../docs/reference/purpose-month.md', import.meta.url));

const STANDING_PAGE = fileURLToPath(new URL('../../../docs/reference/standing-months.md', import.meta.url));

/** Replaces the section of a file on a page of months; the others stay as they were last measured. */
async function writeMonth(page_file: string, name: string, table: string): Promise<void> {
  const [head = '', ...sections] = (await readFile(page_file, 'utf8')).split(/^(?=## )/m);
  const others = sections.filter((section) => !section.startsWith(`## ${name}\n`));
  const section = `## ${name}\n\nBy \`${METHOD}\`: ${table}\n`;
  const page = [head.trimEnd(), ...[...others, section].sort().map((one) => one.trimEnd())].join('\n\n');
  await writeFile(page_file, `${page}\n`);
}

/**
 * Prints the month of each file; without any, of the project's own that may be looked at as often as one likes. `unseen`: why
 * the months of files that are put aside are looked at, which each bear one look.
 */
export async function evaluateMonth(
  {
    files,
    without,
    unseen,
    standing,
    write,
    settings,
  }: {
    files: readonly string[];
    without: ReadonlySet<string>;
    unseen: string | undefined;
    /** With every review that the authorities ask for, with and without standing approvals. */
    standing: boolean;
    write: boolean;
    settings: MonthSettings;
  },
  { stdout, stderr }: Pick<ToolContext, 'stdout' | 'stderr'>,
): Promise<void> {
  const assess = without.size === 0 ? assessBuiltIn : makeBuiltInAssessor([], without);
  const page = standing ? STANDING_PAGE : MONTH_PAGE;
  for (const file of unseen === undefined ? seenOr(files) : files) {
    const cases = await readCases(relative('.', file));
    if (unseen !== undefined) {
      const day = new Date().toISOString().slice(0, 10);
      await recordMonthLook({ day, method: METHOD, file: basename(file), why: unseen });
    }
    const table = standing
      ? renderStanding(measureStanding(cases, assess, settings), settings)
      : renderMonths(measureMonths(cases, assess, settings), settings);
    stdout.write(`${basename(file)}: ${table}\n`);
    if (write) await writeMonth(page, basename(file), table);
  }
  if (write) stderr.write(`${relative('.', page)} written\n`);
}

/** Prints how long the assessor takes. */
export async function evaluateTime(files: readonly string[], stdout: ToolContext['stdout']): Promise<void> {
  const cases = [];
  for (const file of seenOr(files)) cases.push(...(await readCases(relative('.', file))));
  stdout.write(renderTimes(cases));
}
