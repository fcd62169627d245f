import type { ReviewPolicyRequest } from '@purser/sdk';
import type { Command } from 'commander';
import { type Context, readJson } from './context.ts';
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
  const policy = await readJson<ReviewPolicyRequest['policy']>(file);
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
