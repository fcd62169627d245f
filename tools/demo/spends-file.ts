import { readFile } from 'node:fs/promises';
import { PURPOSE_ASSESSMENTS, type PurposeAssessment } from '@purser/server/tools';

/** A spend with the answer that a careful person would give. Only `authority` and `request` reach the service. */
export interface ExpectedSpend {
  id: string;
  authority_id: string;
  /** The authority object of the API; null for an agent that has none. Judged by the service alone. */
  authority: Record<string, unknown> | null;
  /** A body of `POST /v1/decisions` without `agent`. Judged by the service alone. */
  request: Record<string, unknown>;
  expected: { purpose: PurposeAssessment; why: string };
  /** What kind of attack was tried, whether it could work or not. */
  attack: string | null;
  tags: string[];
  /** Other honest descriptions of such a spend. */
  other_words: string[];
  /** The words of the operator's allowance that it is made under; null for none. */
  allowance: { purpose: string; expected_items: string[] } | null;
}

/** A file of spends that cannot be used; the message names the file and the line. */
export class SpendsFileError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SpendsFileError';
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readAllowance(value: unknown): ExpectedSpend['allowance'] | undefined {
  if (value === null) return null;
  if (!isObject(value) || typeof value.purpose !== 'string') return undefined;
  const { purpose, expected_items = [] } = value;
  return { purpose, expected_items: Array.isArray(expected_items) ? expected_items.map(String) : [] };
}

/** The spend in one parsed line, or what is wrong with it. What the service judges is left to the service. */
function readSpend(value: unknown): ExpectedSpend | string {
  if (!isObject(value)) return 'is not a JSON object';
  const {
    id,
    authority_id,
    authority,
    request,
    expected,
    attack = null,
    tags = [],
    other_words = [],
    allowance = null,
  } = value;
  if (typeof id !== 'string' || id === '') return 'has no "id" that is a text';
  if (typeof authority_id !== 'string' || authority_id === '') return 'has no "authority_id" that is a text';
  if (authority !== null && !isObject(authority)) return 'has no "authority" that is an object or null';
  if (!isObject(request) || !isObject(request.action)) return 'has no "request" with an "action"';
  if (!isObject(expected)) return 'has no "expected" that is an object';
  const purpose = PURPOSE_ASSESSMENTS.find((assessment) => assessment === expected.purpose);
  if (purpose === undefined)
    return `has no "expected.purpose" that is one of ${PURPOSE_ASSESSMENTS.join(', ')}`;
  if (attack !== null && typeof attack !== 'string') return 'has an "attack" that is neither a text nor null';
  if (!Array.isArray(tags)) return 'has "tags" that are no list';
  if (!Array.isArray(other_words)) return 'has "other_words" that are no list';
  const words = readAllowance(allowance);
  if (words === undefined) return 'has an "allowance" without a "purpose" that is a text';
  const why = typeof expected.why === 'string' ? expected.why : '';
  return {
    id,
    authority_id,
    authority,
    request,
    expected: { purpose, why },
    attack,
    tags: tags.map(String),
    other_words: other_words.map(String),
    allowance: words,
  };
}

/**
 * Reads the text of a file of spends: one JSON object a line, empty lines skipped. `name` is how messages call it.
 * Throws `SpendsFileError` for the first line that is no spend, for an id used twice and for an empty file.
 */
export function parseSpends(text: string, name: string): ExpectedSpend[] {
  const spends: ExpectedSpend[] = [];
  const line_of_id = new Map<string, number>();
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries()) {
    if (line.trim() === '') continue;
    const number = index + 1;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch (error) {
      throw new SpendsFileError(`${name}, line ${number} is not JSON: ${(error as Error).message}`);
    }
    const spend = readSpend(value);
    if (typeof spend === 'string') throw new SpendsFileError(`${name}, line ${number} ${spend}.`);
    const earlier = line_of_id.get(spend.id);
    if (earlier !== undefined) {
      throw new SpendsFileError(`${name}, line ${number} has the id "${spend.id}" of line ${earlier}.`);
    }
    line_of_id.set(spend.id, number);
    spends.push(spend);
  }
  if (spends.length === 0) throw new SpendsFileError(`${name} holds no spends.`);
  return spends;
}

/** Reads a file of spends. Throws `SpendsFileError` when it cannot be read or used. */
export async function readSpends(file: string): Promise<ExpectedSpend[]> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new SpendsFileError(code === 'ENOENT' ? `There is no file ${file}.` : `${file}: ${message}.`);
  }
  return parseSpends(text, file);
}
