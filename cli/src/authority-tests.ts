import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { APIError, type Purser } from '@purser/sdk';
import { type AuthorityCase, type AuthorityFile, readAuthorityFile } from './authority-file.ts';
import type { Context } from './context.ts';
import { CommandError, EXIT } from './failure.ts';

const HOUR_MS = 3_600_000;

/** The expected and the actual decision of one test case. */
interface CaseResult {
  /** The decision that was made, or the place of the step. */
  of: string;
  expect: string;
  got: string | null;
  ok: boolean;
}

interface FileResult {
  file: string;
  agent: string | null;
  results: CaseResult[];
}

/** Holds a file's authority against a decision that was really made. */
async function replayed(
  client: Purser,
  path: string,
  { agent, authority }: AuthorityFile,
  { decision, expect, reason }: AuthorityCase,
): Promise<CaseResult> {
  if (agent === null)
    throw new CommandError(`${path}: agent is missing, but ${decision} is a decision of an agent.`);
  const made = await client.decisions.retrieve(decision);
  if (made.agent.slug !== agent && made.agent.id !== agent)
    throw new CommandError(`${path}: ${decision} is a decision of ${made.agent.slug}, not of ${agent}.`);
  // Up to this decision: what was asked in the hour before it is replayed with it, and counts for the month.
  const at = Date.parse(made.created_at);
  const window = { from: new Date(at - HOUR_MS).toISOString(), to: new Date(at + 1).toISOString() };
  const { changed, evaluated } = await client.agents.authority.simulate(agent, authority, window);
  const other = changed.find((each) => each.decision_id === decision)?.draft;
  const must = [expect, reason].filter(Boolean).join(' ');
  if (evaluated === 0) return { of: decision, expect: must, got: null, ok: false };
  const kind = other?.decision ?? made.decision;
  const because = other?.reason_code ?? made.reason_code;
  const ok = kind === expect && (reason === undefined || reason === because);
  return { of: decision, expect: must, got: `${kind} ${because}`, ok };
}

const words = (value: unknown) => (Array.isArray(value) ? value.join(', ') : String(value));

/** Carries out the steps of a file; what none of them expects is no result. */
async function stepped(client: Purser, { authority, mode, steps }: AuthorityFile): Promise<CaseResult[]> {
  if (steps.length === 0) return [];
  const tested = await client.authority.test({ authority, ...(mode === null ? {} : { mode }), steps });
  return tested.steps.flatMap(({ verdict, mismatches }, i) => {
    const { expect = {} } = steps[i] as (typeof steps)[number];
    const must = {
      ...expect,
      ...Object.fromEntries(mismatches.map(({ field, expected }) => [field, expected])),
    };
    if (Object.keys(must).length === 0) return [];
    const got = mismatches.map(({ field, actual }) => `${field} ${words(actual)}`).join('; ');
    return [
      {
        of: `steps[${i}]`,
        expect: Object.entries(must)
          .map(([field, value]) => `${field} ${words(value)}`)
          .join('; '),
        got: got || `${verdict?.decision} ${verdict?.reason_code}`,
        ok: mismatches.length === 0,
      },
    ];
  });
}

async function resultsOf(client: Purser, path: string): Promise<FileResult> {
  const file = await readAuthorityFile(path);
  try {
    const results = await stepped(client, file);
    for (const each of file.tests) results.push(await replayed(client, path, file, each));
    return { file: path, agent: file.agent, results };
  } catch (error) {
    // Of many files it has to be said which one the service refused.
    throw APIError.is(error, 'invalid_request') ? new CommandError(`${path}: ${error.message}`) : error;
  }
}

/** The files that a path stands for: those of YAML or JSON in a directory, in the order of their names, or itself. */
async function filesAt(path: string): Promise<string[]> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`${path} cannot be read (${error.code}).`);
  });
  if (!found.isDirectory()) return [path];
  const names = (await readdir(path)).filter((name) => /\.(ya?ml|json)$/.test(name)).sort();
  if (names.length === 0) throw new CommandError(`${path}: no file ends with .yaml, .yml or .json.`);
  return names.map((name) => join(path, name));
}

/** Holds the authorities of files against their tests. Ends with 2 if one fails. */
export async function testFiles(
  context: Context,
  paths: readonly string[],
  options: { file?: string; json?: boolean },
): Promise<number> {
  const all = [...(options.file === undefined ? [] : [options.file]), ...paths];
  if (all.length === 0) throw new CommandError('Give a file or a directory with files.');
  const client = await context.client();
  const files: FileResult[] = [];
  for (const path of all) for (const file of await filesAt(path)) files.push(await resultsOf(client, file));
  const results = files.flatMap((each) => each.results);
  if (results.length === 0)
    throw new CommandError(`${all.join(', ')}: steps and tests are empty; nothing to test.`);
  const failed = results.filter(({ ok }) => !ok).length;
  const passed = results.length - failed;
  if (options.json === true) context.json({ passed, failed, files });
  else {
    for (const { file, results } of files) {
      if (files.length > 1) context.say(results.length === 0 ? `${file}: no tests` : `${file}:`);
      for (const { of, expect, got, ok } of results)
        context.say(
          ok
            ? `ok    ${of}  ${got}`
            : `FAIL  ${of}  expected ${expect}, got ${got ?? 'not replayed: another currency'}`,
        );
    }
    context.say(`${passed} passed, ${failed} failed`);
  }
  return failed === 0 ? EXIT.ok : EXIT.differs;
}
