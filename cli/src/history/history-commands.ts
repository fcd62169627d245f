import type { Command } from 'commander';
import type { Context } from '../context.ts';
import type { Run } from '../run.ts';
import { type CoverageOptions, coverage } from './coverage.ts';
import { type ProposeOptions, propose } from './history.ts';

const JSON_FLAG = ['--json', 'print JSON'] as const;

/** Adds the commands about lines. */
export function addHistory(program: Command, context: Context, run: Run): void {
  program
    .command('history')
    .description('what imported lines say')
    .command('propose <agent>')
    .description(
      'write the authority that the lines suggest to a file, with the reason for each value; exits 2 if it stops more than it should',
    )
    .requiredOption('-f, --file <file>', 'file to write')
    .option('--import <import_id...>', 'only lines of these imports')
    .option('--feed <name>', 'only lines of this account or rail')
    .option('--objective <text>', 'what the agent is for, if it has no authority yet')
    .option('--force', 'overwrite an existing file')
    .option(...JSON_FLAG)
    .action(run((agent: string, options: ProposeOptions) => propose(context, agent, options)));
  program
    .command('coverage')
    .description('show how much of what was paid was asked for, and the largest payments that were not')
    .option('--agent <agent>', 'only lines of this agent')
    .option('--feed <name>', 'only lines of this account or rail')
    .option('--from <time>', 'from this day or time on')
    .option('--to <time>', 'before this time, or until the end of this day')
    .option(...JSON_FLAG)
    .action(run((options: CoverageOptions) => coverage(context, options)));
}
