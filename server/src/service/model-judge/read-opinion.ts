import { PURPOSE_ASSESSMENTS } from '@purser/contract/values/decisions';
import type { PurposeAssessment, PurposeEvidence } from '@purser/rules/domain/assessment';
import type { SeenByModel } from './prompt.ts';
import { fieldOf, listOf } from './protocols.ts';

/** A model's assessment of a spend, validated and sanitized. */
export interface Opinion {
  assessment: PurposeAssessment;
  /** 0..1 */
  confidence: number;
  rationale: string;
  /** Only passages that really occur in the field that they name. */
  evidence: PurposeEvidence[];
  /** True if a passage of it is the operator's own words. */
  quotes_operator: boolean;
  /** True if the model saw the whole spend, and the rules read it to its end. */
  saw_all: boolean;
}

const MAX_RATIONALE_LENGTH = 300;
const MAX_OPINION_EVIDENCE = 4;
const MAX_QUOTE_LENGTH = 160;
/** Fewer letters are in any text. */
const MIN_QUOTED_LETTERS = 4;
/** Words of at least this length that stand in the spend are the agent's, not the model's. */
const MIN_ECHO_LENGTH = 20;
/** Format, private-use and unassigned characters, lone surrogates, and characters that render as nothing. */
const UNPRINTABLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Co}\p{Cs}\p{Cn}]/gu;

/** A model's words as one line that is safe to show: sanitized, cut, and without double quotes, which enclose it. */
function asLine(text: string, max: number): string {
  const line = text
    .replace(UNPRINTABLE, '')
    .replace(/[\p{Cc}\p{Z}]+/gu, ' ')
    .replaceAll('"', "'")
    .trim();
  const signs = [...line];
  return signs.length <= max ? line : `${signs.slice(0, max - 1).join('')}…`;
}

function parsed(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/**
 * The object in a model's words: they may be it, or hold it in a fence, or after the thoughts of a reasoning model. Where
 * it is not plain which object is meant there is none, because the agent's text may have one that the model repeats.
 */
function objectIn(words: string): object | null {
  const rest = words.replace(/^\s*<think>[\s\S]*?<\/think>/, '').trim();
  const fenced = /^[^`{]{0,200}```(?:json)?\s*\n?(\{[^`]*\})\s*```[^`{]{0,200}$/i.exec(rest);
  return parsed(fenced?.[1] ?? rest);
}

function assessmentIn(value: unknown): PurposeAssessment | null {
  if (typeof value !== 'string') return null;
  const word = value.trim().toUpperCase();
  return PURPOSE_ASSESSMENTS.find((one) => one === word || one === `PURPOSE_${word}`) ?? null;
}

/** A number from 0 to 1, or a text that says one; null otherwise. */
function confidenceIn(value: unknown): number | null {
  const text = typeof value === 'string' ? value.trim() : null;
  const is_number = text !== null && /^\d{1,3}(\.\d{1,10})?%?$/.test(text);
  const said = is_number ? Number.parseFloat(text) / (text.endsWith('%') ? 100 : 1) : value;
  return typeof said === 'number' && said >= 0 && said <= 1 ? Math.round(said * 100) / 100 : null;
}

/** Texts that differ only by case, white space and the form of their quotation marks compare as equal. */
const comparable = (text: string) =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\u2018\u2019\u201c\u201d"]/g, "'")
    .replace(/\s+/g, ' ')
    .trim();

/** The rules read less of a request than a model is shown; what they did not read may hold planted text. */
const MAX_READ_CHARACTERS = 6_000;
const MAX_READ_WORDS = 800;
function isLong(spend: SeenByModel['spend']): boolean {
  const text = Object.values(spend).join(' ');
  return text.length > MAX_READ_CHARACTERS || (text.match(/[\p{L}\p{N}]+/gu) ?? []).length > MAX_READ_WORDS;
}

/** True if the words stand in the spend, so that the model only repeats them. */
function isIn(spend: SeenByModel['spend'], words: string): boolean {
  const said = comparable(words);
  return (
    said.length >= MIN_ECHO_LENGTH && Object.values(spend).some((text) => comparable(text).includes(said))
  );
}

/** The field of the operator's text that a passage is quoted from; the one named, or else the first that has it. */
function quotedFrom(field: string, text: string, purpose: SeenByModel['purpose']): string | null {
  const said = comparable(text);
  if ((said.match(/\p{L}/gu) ?? []).length < MIN_QUOTED_LETTERS) return null;
  const has = (name: string) => comparable(purpose[name] ?? '').includes(said);
  if (Object.hasOwn(purpose, field) && has(field)) return field;
  return Object.keys(purpose).find(has) ?? null;
}

/** The passages that are what the model says they are. */
function verified(evidence: readonly unknown[], seen: SeenByModel, effect: PurposeEvidence['effect']) {
  const passages: PurposeEvidence[] = [];
  let quotes_operator = false;
  for (const one of evidence) {
    const field = fieldOf(one, 'field');
    const text = fieldOf(one, 'text');
    if (passages.length === MAX_OPINION_EVIDENCE) break;
    if (typeof field !== 'string' || typeof text !== 'string' || text.trim() === '') continue;
    if (Object.hasOwn(seen.spend, field)) {
      if (text.length > MAX_QUOTE_LENGTH || seen.spend[field]?.includes(text) !== true) continue;
      passages.push({ field, text, effect });
      continue;
    }
    const from = quotedFrom(field, text, seen.purpose);
    if (from === null) continue;
    quotes_operator = true;
    passages.push({ field: from, text: asLine(text, MAX_QUOTE_LENGTH), effect });
  }
  return { passages, quotes_operator };
}

/**
 * Parses a model's answer, which is its words or the object that it gave to a tool. Fences, further fields, and numbers as
 * text are tolerated; null for whatever else was not asked for, and for words that are the agent's own. Passages that do
 * not occur word for word in the field that they name are dropped.
 */
export function readOpinion(content: string | object, seen: SeenByModel): Opinion | null {
  const answer = typeof content === 'string' ? objectIn(content) : content;
  const own = (name: string) =>
    answer !== null && Object.hasOwn(answer, name) ? fieldOf(answer, name) : undefined;
  const assessment = assessmentIn(own('assessment'));
  const confidence = confidenceIn(own('confidence'));
  const rationale = own('rationale');
  const evidence = own('evidence') ?? [];
  if (assessment === null || confidence === null || typeof rationale !== 'string') return null;
  if (!Array.isArray(evidence)) return null;
  const line = asLine(rationale, MAX_RATIONALE_LENGTH);
  if (line === '') return null;
  const words = [rationale, typeof content === 'string' ? content : JSON.stringify(content)];
  if (words.some((said) => isIn(seen.spend, said))) return null;
  const effect = assessment === 'PURPOSE_ALIGNED' ? 'supports' : 'conflicts';
  const { passages, quotes_operator } = verified(listOf(evidence), seen, effect);
  return {
    assessment,
    confidence,
    rationale: line,
    evidence: passages,
    quotes_operator,
    saw_all: !seen.cut && !isLong(seen.spend),
  };
}
