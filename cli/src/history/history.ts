import { access, writeFile } from 'node:fs/promises';
import type { Proposal, ProposeHistoryRequest } from '@purser/sdk';
import { authorityText } from '../authority-file.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT } from '../failure.ts';
import { authorityPage } from '../service-address.ts';

export interface ProposeOptions {
  file: string;
  import?: string[];
  feed?: string;
  objective?: string;
  force?: boolean;
  json?: boolean;
}

/** A share in percent, rounded down to one digit. */
export const percent = (share: number) => `${Math.floor(share * 1000) / 10} %`;

function tellProposal(context: Context, { fields, replay, check, reached, relaxed }: Proposal): void {
  for (const { path, why } of fields) context.say(`${path}: ${why}`);
  const reviews = Math.round(replay.reviews_per_week * 10) / 10;
  context.say(
    `It allows ${percent(replay.allow_share)} of ${replay.evaluated} purchases, with ${reviews} reviews a week.`,
    `Made from the first four fifths alone, it allows ${percent(check.allow_share)} of the last ${check.lines}.`,
  );
  if (relaxed.length > 0) context.say(`Left out so that enough is allowed: ${relaxed.join(', ')}.`);
  if (!reached) context.say('It stops more than was asked for; see the reasons in the console.');
}

/**
 * Writes the authority that an agent's lines suggest to a file, for `authority diff` and `authority apply`. Nothing is saved at the
 * service. Exits with 2 if it stops more than it should.
 */
export async function propose(context: Context, agent: string, options: ProposeOptions): Promise<number> {
  const { file, import: imports, feed, objective, force = false, json = false } = options;
  const is_there = await access(file).then(
    () => true,
    () => false,
  );
  if (is_there && !force) throw new CommandError(`${file} already exists: use --force to overwrite it.`);
  const client = await context.client();
  const filter = {
    ...(imports === undefined ? {} : { imports }),
    ...(feed === undefined ? {} : { feed }),
  };
  const body: ProposeHistoryRequest = {
    agent,
    ...(Object.keys(filter).length === 0 ? {} : { filter }),
    ...(objective === undefined ? {} : { purpose: { objective } }),
  };
  const { slug } = await client.agents.retrieve(agent);
  const proposal = await client.history.propose(body);
  const reference = authorityPage(context.env);
  const base = proposal.base?.hash ?? null;
  await writeFile(file, authorityText(slug, proposal.authority, { base, reference }));
  if (json) context.json(proposal);
  else {
    tellProposal(context, proposal);
    context.say(`${file}: check it with \`purser authority diff -f ${file}\`, then apply it.`);
  }
  return proposal.reached ? EXIT.ok : EXIT.differs;
}
