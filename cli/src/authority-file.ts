import { writeFile } from 'node:fs/promises';
import type { Authority, AuthorityTestStep } from '@purser/sdk';
import { Document, parseDocument } from 'yaml';
import { readText } from './context.ts';
import { CommandError } from './failure.ts';

/** A case of `purser authority test`: what a decision that was really made becomes under the file's authority. */
export interface AuthorityCase {
  decision: string;
  expect: 'ALLOW' | 'REVIEW' | 'DENY';
  reason?: string;
}

/** A file with an agent's authority. */
export interface AuthorityFile {
  /** The agent's slug or id; null: the file is for tests alone. */
  agent: string | null;
  authority: Authority;
  /** The hash that the file was written against; null: whatever is in force. */
  base: string | null;
  /** Why, for the history. */
  note: string | null;
  tests: readonly AuthorityCase[];
  /** Spends that are thought up, and what must come of them; for the service to judge, like the authority. */
  steps: AuthorityTestStep[];
  /** The agent's mode in the steps; null: the service's default. */
  mode: 'SHADOW' | 'ENFORCE' | null;
}

/** A file of an agent. Throws `CommandError` where it names none. */
export async function readAgentFile(file: string): Promise<AuthorityFile & { agent: string }> {
  const read = await readAuthorityFile(file);
  if (read.agent === null) throw new CommandError(`${file}: agent must be the slug of an agent.`);
  return { ...read, agent: read.agent };
}

const FIELDS = ['agent', 'authority', 'base', 'note', 'tests', 'mode', 'steps'];
const MODES: readonly unknown[] = [null, 'SHADOW', 'ENFORCE'];
const KINDS: readonly unknown[] = ['ALLOW', 'REVIEW', 'DENY'];

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Reads a file of YAML or JSON. Fields that are unknown here are refused, so that none is lost by a typing error; those of
 * the authority itself are for the service to judge. Throws `CommandError` that names file and field.
 */
export async function readAuthorityFile(file: string): Promise<AuthorityFile> {
  const text = await readText(file);
  const document = parseDocument(text, { uniqueKeys: true });
  const [problem] = document.errors;
  if (problem !== undefined) throw new CommandError(`${file}: ${problem.message.split('\n')[0]}`);
  // References make short files long; nobody needs them here.
  const data: unknown = document.toJS({ maxAliasCount: 10 });
  const wrong = (field: string, must: string) => new CommandError(`${file}: ${field} ${must}.`);
  if (!isObject(data)) throw wrong('the file', 'must have the fields agent and authority');
  const unknown = Object.keys(data).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined)
    throw wrong(unknown, `is not a known field; the fields are ${FIELDS.join(', ')}`);
  const { agent = null, authority, base = null, note = null, tests = [], steps = [], mode = null } = data;
  if (agent !== null && typeof agent !== 'string') throw wrong('agent', 'must be the slug of an agent');
  if (!isObject(authority))
    throw wrong('authority', 'must be an authority, in the form of GET /v1/agents/:id/authority');
  if (base !== null && !/^sha256:[0-9a-f]{64}$/.test(String(base)))
    throw wrong('base', 'must be the hash of a version: sha256:…');
  if (note !== null && typeof note !== 'string') throw wrong('note', 'must be text');
  if (!Array.isArray(tests)) throw wrong('tests', 'must be a list');
  if (!Array.isArray(steps)) throw wrong('steps', 'must be a list');
  if (!MODES.includes(mode)) throw wrong('mode', 'must be SHADOW or ENFORCE');
  return {
    agent,
    authority: authority as unknown as Authority,
    base: base as string | null,
    note: note as string | null,
    steps: steps as AuthorityTestStep[],
    mode: mode as AuthorityFile['mode'],
    tests: tests.map((each, at) => caseOf(each, (field, must) => wrong(`tests[${at}]${field}`, must))),
  };
}

function caseOf(given: unknown, wrong: (field: string, must: string) => CommandError): AuthorityCase {
  if (!isObject(given)) throw wrong('', 'must have decision and expect');
  const { decision, expect, reason, ...rest } = given;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined)
    throw wrong(`.${unknown}`, 'is not a known field; the fields are decision, expect and reason');
  if (typeof decision !== 'string' || !/^dec_[0-9A-Za-z]{1,60}$/.test(decision))
    throw wrong('.decision', 'must be the id of a decision: dec_…');
  if (!KINDS.includes(expect)) throw wrong('.expect', 'must be ALLOW, REVIEW or DENY');
  if (reason !== undefined && typeof reason !== 'string') throw wrong('.reason', 'must be a reason code');
  return { decision, expect: expect as AuthorityCase['expect'], ...(reason === undefined ? {} : { reason }) };
}

/** Puts another base into a file, and leaves everything else in it as it is, comments included. */
export async function writeBase(file: string, hash: string): Promise<void> {
  const document = parseDocument(await readText(file));
  document.set('base', hash);
  await writeFile(file, document.toString({ lineWidth: 0 }));
}

/** The text of a file for an authority. `reference`: the address of the page that explains the fields. */
export function authorityText(
  agent: string,
  authority: Authority,
  { base, reference }: { base: string | null; reference: string },
): string {
  const { purpose, currency, ...others } = authority;
  const ordered = { purpose, currency, ...others };
  const document = new Document({ agent, ...(base === null ? {} : { base }), authority: ordered });
  document.commentBefore = ` What this agent may spend. Amounts are minor units of the currency: 5440 is EUR 54.40.\n Fields: ${reference}`;
  return document.toString({ lineWidth: 0 });
}
