import { readFile } from 'node:fs/promises';
import type { ReviewPolicyRequest } from '@purser/sdk';
import type { Command } from 'commander';
import type { Context } from './context.ts';
import { EXIT } from './failure.ts';
import type { Run } from './run.ts';

/** Writes the review policy, or one of its versions, as JSON that `put` reads. */
export async function getReviewPolicy(context: Context, version: string | undefined): Promise<number> {
  const client = await context.client();
  const found = await client.reviewPolicy.retrieve(version === undefined ? {} : { version: Number(version) });
  context.say(JSON.stringify(found.policy, null, 2));
  return EXIT.ok;
}

/** Puts a file as the next version, unless somebody else changes the policy meanwhile. */
export async function putReviewPolicy(
  context: Context,
  file: string,
  { note }: { note?: string },
): Promise<number> {
  const client = await context.client();
  const policy = JSON.parse(await readFile(file, 'utf8')) as ReviewPolicyRequest['policy'];
  const { hash: ifMatch } = await client.reviewPolicy.retrieve();
  const body = { policy, ...(note === undefined ? {} : { note }) };
  const { version } = await client.reviewPolicy.put(body, { ifMatch });
  context.say(`Version ${version} of the review policy is in force.`);
  return EXIT.ok;
}

/** Adds the commands of the review policy. */
export function addReviewPolicy(program: Command, context: Context, run: Run): void {
  const policy = program
    .command('review-policy')
    .description('keep the review policy, which says who may allow a request, as a file');
  policy
    .command('get [version]')
    .description('write the policy, or an earlier version of it, as JSON to standard output')
    .action(run((version: string | undefined) => getReviewPolicy(context, version)));
  policy
    .command('put <file>')
    .description('put a JSON file as the next version; needs an admin key')
    .option('--note <text>', 'reason, recorded with the version')
    .action(run((file: string, options: { note?: string }) => putReviewPolicy(context, file, options)));
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

function addHistory(program: Command, context: Context, run: Run): void {
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
}
