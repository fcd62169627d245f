import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { leaveOut, TABLES } from '@purser/purpose-data';
import type { ToolContext } from '../demo/main.ts';

const HELP = `npm run eval -- [options]

Judges the cases of files with the built-in assessor and compares with what is expected: cold, with stuffing and with
harmless words added, and after a SHADOW whose suggestions were confirmed. No service, no network.

  --file FILE       cases as JSON lines, may be given several times; without it those of the project's own that may be
                    looked at as often as one likes
  --unseen WHY      also the totals of the unseen cases, which bear five looks in all: writes each one down with the
                    reason in tools/evaluation/looks-at-unseen.txt; goes with --write and nothing else
  --without NAME    leaves out a table of words or a conflict, may be given several times
  --mistakes N      how many of the gravest mistakes to show with what they stand on (default 0)
  --json            every case as JSON
  --model           rules and the model of PURPOSE_MODEL_URL and PURPOSE_MODEL together: how often it agrees, what
                    passes, what is kept, time, tokens, cost, and whether it may clear; asks it about every open case
  --judges          rules and judges made for it that are wrong in known ways, instead of a model: what they let pass
  --allowances      what the words of allowances do to the spends under them
  --month           a month of agents with 200 spends each, 3 % of them wrong, and a careful person who answers: how much
                    goes to a person, how much of that is wrong, and what passes; with --write into
                    docs/reference/purpose-month.md
  --standing        with --month: the same month with every review that the authorities ask for, and a person who makes
                    standing approvals; with --write into docs/reference/standing-months.md
  --seed N          the seed of the month (default 1, 2 and 3)
  --agents N        agents in the month (default 12)
  --time            how long a spend, the dearest text and the dearest reading take, at best
  --write           writes the tables to docs/reference/purpose-evaluation.md; those of the unseen cases stay as they
                    were last looked at
  --help            this text
`;

/** Runs the evaluation and resolves with the exit code: 0, or 2 for wrong arguments or a file that cannot be used. */
export async function main({ args, env, stdout, stderr }: ToolContext): Promise<number> {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        file: { type: 'string', multiple: true, default: [] },
        without: { type: 'string', multiple: true, default: [] },
        unseen: { type: 'string' },
        mistakes: { type: 'string', default: '0' },
        json: { type: 'boolean', default: false },
        model: { type: 'boolean', default: false },
        judges: { type: 'boolean', default: false },
        allowances: { type: 'boolean', default: false },
        month: { type: 'boolean', default: false },
        standing: { type: 'boolean', default: false },
        seed: { type: 'string' },
        agents: { type: 'string', default: '12' },
        time: { type: 'boolean', default: false },
        write: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) {
      stdout.write(HELP);
      return 0;
    }
    if (!/^\d{1,4}$/.test(values.mistakes)) throw new TypeError('--mistakes must be a whole number.');
    if (!/^\d{1,9}$/.test(values.seed ?? '0')) throw new TypeError('--seed must be a whole number.');
    if (!/^[1-9]\d{0,3}$/.test(values.agents)) throw new TypeError('--agents must be a whole number from 1.');
    const { unseen, write, json, model, judges, allowances, month, standing, time } = values;
    const is_alone = [...values.file, ...values.without].length === 0 && values.mistakes === '0';
    if (unseen !== undefined && !month && (!is_alone || json || model || judges || allowances || time)) {
      throw new TypeError('--unseen shows totals of all files and goes with --write alone.');
    }
    if (standing && !month) throw new TypeError('--standing goes with --month.');
    for (const name of values.without) if (TABLES.has(name)) leaveOut(name);
    // The tables are read when the assessor is loaded, so it is loaded only now.
    const {
      evaluate,
      evaluateAllowances,
      evaluateJudges,
      evaluateModel,
      evaluateMonth,
      evaluateTime,
      isExpected,
    } = await import('./evaluate.ts');
    // npm changes to the package's directory and tells where it was called.
    const files = values.file.map((file) => resolve(env.INIT_CWD ?? '.', file));
    try {
      if (month) {
        const seeds = values.seed === undefined ? [1, 2, 3] : [Number(values.seed)];
        const settings = { agents: Number(values.agents), spends: 200, seeds };
        const without = new Set(values.without);
        await evaluateMonth({ files, without, unseen, standing, write, settings }, { stdout, stderr });
        return 0;
      }
      if (model) return await evaluateModel(files, { env, stdout, stderr });
      if (judges) await evaluateJudges(files, stdout);
      if (time) await evaluateTime(files, stdout);
      if (allowances) await evaluateAllowances(files, stdout);
      if (judges || allowances || time) return 0;
      const options = { files, mistakes: Number(values.mistakes), json, write, unseen };
      await evaluate({ ...options, without: new Set(values.without) }, { stdout, stderr });
      return 0;
    } catch (error) {
      if (!isExpected(error)) throw error;
      stderr.write(`${error.message}\n`);
      return 2;
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    stderr.write(`${error.message}\n`);
    return 2;
  }
}
