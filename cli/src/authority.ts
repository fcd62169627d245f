import { access, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { APIError, type Authority, type AuthorityVersion, type Purser, type Simulation } from '@purser/sdk';
import { type Change, changeLines, changesOf } from './authority-changes.ts';
import { authorityText, readAgentFile, writeBase } from './authority-file.ts';

import type { Context } from './context.ts';
import { CommandError, EXIT } from './failure.ts';
import { authorityPage } from './service-address.ts';
import { simulationLines } from './simulation-text.ts';

/** The version in force; null where none was ever set. */
async function inForce(client: Purser, agent: string): Promise<AuthorityVersion | null> {
  try {
    return await client.agents.authority.retrieve(agent);
  } catch (error) {
    if (!APIError.is(error, 'not_found')) throw error;
    // It is the agent that is missing, or its authority.
    await client.agents.retrieve(agent).catch((missing: unknown) => {
      throw APIError.is(missing, 'not_found') ? new CommandError(`No such agent: ${agent}.`) : missing;
    });
    return null;
  }
}

/** The effect of the draft; null if the key may not simulate. */
async function simulated(client: Purser, agent: string, draft: Authority): Promise<Simulation | null> {
  try {
    return await client.agents.authority.simulate(agent, draft);
  } catch (error) {
    if (APIError.is(error, 'insufficient_scope')) return null;
    throw error;
  }
}

interface Difference {
  file: Awaited<ReturnType<typeof readAgentFile>>;
  current: AuthorityVersion | null;
  changes: Change[];
  simulation: Simulation | null;
}

async function differenceOf(context: Context, path: string): Promise<Difference> {
  const file = await readAgentFile(path);
  const client = await context.client();
  const current = await inForce(client, file.agent);
  const changes = changesOf(current?.authority ?? null, file.authority);
  // Also where nothing differs: the service says whether the file is an authority at all.
  const simulation = await simulated(client, file.agent, file.authority);
  return { file, current, changes, simulation };
}

function tell(context: Context, { file, current, changes, simulation }: Difference, as_json: boolean): void {
  const version = current?.version ?? null;
  const base_moved = file.base !== null && current !== null && file.base !== current.hash;
  if (as_json) {
    context.json({
      agent: file.agent,
      version,
      hash: current?.hash ?? null,
      base_moved,
      changes,
      simulation,
    });
    return;
  }
  if (changes.length === 0) {
    context.say(`${file.agent}: no changes against version ${version}.`);
    return;
  }
  context.say(
    version === null ? `${file.agent} has no authority yet:` : `${file.agent}, against version ${version}:`,
    ...changeLines(changes),
    ...(simulation === null
      ? ['Not simulated: that needs an admin key.']
      : simulationLines(simulation, file.authority.currency)),
    ...(base_moved ? ['The file was based on another version than the current one.'] : []),
  );
}

/** Prints the changes in a file. Exits with 2 if anything differs. */
export async function diff(context: Context, options: { file: string; json?: boolean }): Promise<number> {
  const difference = await differenceOf(context, options.file);
  tell(context, difference, options.json === true);
  return difference.changes.length === 0 ? EXIT.ok : EXIT.differs;
}

async function isAgreed({ stdin, stderr }: Context): Promise<boolean> {
  if (!stdin.isTTY) return false;
  const lines = createInterface({ input: stdin, output: stderr });
  try {
    return /^y(es)?$/i.test((await lines.question('Apply this? [y/N] ')).trim());
  } finally {
    lines.close();
  }
}

/**
 * Puts a file in force, if the version is still the one that the difference was told of, or the file's `base`. Ends with 2
 * if nobody agreed to it.
 */
export async function apply(
  context: Context,
  options: { file: string; yes?: boolean; note?: string; json?: boolean },
): Promise<number> {
  const difference = await differenceOf(context, options.file);
  const { file, current, changes } = difference;
  if (options.json !== true || changes.length === 0) tell(context, difference, options.json === true);
  if (changes.length === 0) return EXIT.ok;
  if (options.yes !== true && !(await isAgreed(context))) {
    context.stderr.write('Nothing was applied; use --yes to apply without a prompt.\n');
    return EXIT.differs;
  }
  const client = await context.client();
  const note = options.note ?? file.note ?? undefined;
  const made = await client.agents.authority.set(
    file.agent,
    { ...file.authority, ...(note === undefined ? {} : { note }) },
    { ifMatch: file.base ?? current?.hash },
  );
  if (file.base !== null) await writeBase(options.file, made.hash);
  if (options.json === true)
    context.json({ agent: file.agent, version: made.version, hash: made.hash, changes });
  else context.say(`${file.agent}: version ${made.version} is now in effect.`);
  return EXIT.ok;
}

/** Writes what is in force into a file, or to standard output. */
export async function pull(
  context: Context,
  agent: string,
  options: { file?: string; force?: boolean; json?: boolean },
): Promise<number> {
  const client = await context.client();
  const current = await inForce(client, agent);
  if (current === null) throw new CommandError(`${agent} has no authority: write a file and apply it.`);
  const { slug } = await client.agents.retrieve(agent);
  const { authority, hash, version } = current;
  const reference = authorityPage(context.env);
  const as_json = `${JSON.stringify({ agent: slug, base: hash, authority }, null, 2)}\n`;
  const text = options.json === true ? as_json : authorityText(slug, authority, { base: hash, reference });
  if (options.file === undefined) {
    context.stdout.write(text);
    return EXIT.ok;
  }
  const is_there = await access(options.file).then(
    () => true,
    () => false,
  );
  if (is_there && options.force !== true)
    throw new CommandError(`${options.file} already exists: use --force to overwrite it.`);
  await writeFile(options.file, text);
  if (options.json !== true) context.say(`${options.file}: version ${version} of ${slug}.`);
  return EXIT.ok;
}

/** Prints how a draft would have decided recent spends. */
export async function simulate(
  context: Context,
  options: { file: string; limit?: number; from?: string; to?: string; json?: boolean },
): Promise<number> {
  const { agent, authority } = await readAgentFile(options.file);
  const client = await context.client();
  const { limit, from, to } = options;
  const simulation = await client.agents.authority.simulate(agent, authority, { limit, from, to });
  if (options.json === true) context.json(simulation);
  else context.say(...simulationLines(simulation, authority.currency));
  return EXIT.ok;
}
