import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Assess } from '@purser/server/tools';
import { expect, test } from 'vitest';
import { readSpends } from '../demo/spends-file.ts';
import { runMonth } from './month.ts';
import { type Answering, runStandingMonth } from './standing-month.ts';
import { measureStanding, renderStanding } from './standing-report.ts';
import { recordMonthLook } from './unseen.ts';

const cases = await readSpends(fileURLToPath(new URL('./cases/cases.jsonl', import.meta.url)));
const SIZE = { agents: 6, spends: 200, new_words: 0.1, seed: 7, after_shadow: false };

const judged = (of: Partial<ReturnType<Assess>>): ReturnType<Assess> => ({
  assessment: 'PURPOSE_ALIGNED',
  confidence: 0.5,
  method: 'test',
  rationale: '',
  evidence: [],
  questions: [],
  vouched_by: null,
  is_final: false,
  ...of,
});

/** Asks about each merchant until somebody answered. */
const asksOnce: Assess = (_authority, { action }, facts) => {
  const question_id = `q_${action.merchant}`;
  const answer = facts?.answers.get(question_id);
  const answered = answer ?? null;
  const question = {
    question_id,
    kind: 'new_merchant',
    merchant_key: '',
    about: null,
    sentence: '',
  } as const;
  return judged({
    assessment: answer === undefined ? 'PURPOSE_UNCLEAR' : 'PURPOSE_ALIGNED',
    questions: [{ ...question, answered }],
  });
};

test('an assessor that asks about everything lets nothing pass, and one that asks nothing everything', () => {
  const all = runMonth(cases, { ...SIZE, assess: () => judged({ assessment: 'PURPOSE_UNCLEAR' }) }).late;
  expect(all.to_person.count).toBe(all.to_person.of);
  expect(all.passed.count).toBe(0);
  expect(all.precision.of).toBe(all.to_person.of);
  const none = runMonth(cases, { ...SIZE, assess: () => judged({}) }).late;
  expect(none.to_person.count).toBe(0);
  expect(none.passed.count).toBe(none.passed.of);
  expect(none.passed.of).toBeGreaterThan(0);
});

/** An assessor that also notes what it is shown, without the numbers of the spends. */
function noting(assess: Assess, noted: string[]): Assess {
  return (authority, request, facts) => {
    const { merchant, amount_minor } = request.action;
    noted.push(`${authority.purpose.objective} ${merchant} ${amount_minor}`);
    return assess(authority, request, facts);
  };
}

test('a question that is answered on its day is not asked in the second half of the month, but first meetings are', () => {
  const { late, weeks } = runMonth(cases, { ...SIZE, assess: asksOnce });
  expect(weeks[0]?.count).toBeGreaterThan(0);
  const share = late.to_person.count / late.to_person.of;
  expect(share).toBeGreaterThan(0.03);
  expect(share).toBeLessThan(0.15);
});

test('a merchant that is met for the first time is met once, also in the second half of the month', () => {
  const noted: string[] = [];
  runMonth(cases, { ...SIZE, agents: 1, assess: noting(() => judged({}), noted) });
  const merchants = noted.map((one) => one.replace(/ \d+$/, ''));
  const once = merchants.filter((one) => merchants.indexOf(one) === merchants.lastIndexOf(one));
  expect(once.filter((one) => merchants.indexOf(one) >= 100).length).toBeGreaterThan(3);
});

test('the share of new words changes descriptions and nothing else of the month', () => {
  const [none, many] = [0, 0.3].map((new_words) => {
    const noted: string[] = [];
    runMonth(cases, { ...SIZE, new_words, assess: noting(() => judged({}), noted) });
    return noted;
  });
  expect(none).toHaveLength(6 * 200);
  expect(many).toEqual(none);
});

test('a spend that passed was paid and settled by the rail, as the service would know', () => {
  let settled = 0;
  let paid = 0;
  const assess: Assess = (_authority, _request, facts) => {
    const all = [...(facts?.precedents.by_merchant.values() ?? [])].flat();
    settled = Math.max(settled, ...all.map((one) => one.settled_by_rail));
    paid = Math.max(paid, facts?.paid.length ?? 0);
    return judged({});
  };
  runMonth(cases, { ...SIZE, agents: 1, assess });
  expect(settled).toBeGreaterThan(1);
  expect(paid).toBeGreaterThan(1);
});

test('in SHADOW nobody answers, and after it the questions that were asked most are answered', () => {
  const { weeks, late } = runMonth(cases, { ...SIZE, assess: asksOnce, after_shadow: true });
  expect(weeks[0]?.count).toBe(weeks[0]?.of);
  expect(late.to_person.count).toBeLessThan(late.to_person.of * 0.15);
});

test('a seed determines the month, and 3 % of its spends are wrong', () => {
  const options = { ...SIZE, agents: 50, assess: asksOnce };
  expect(runMonth(cases, options)).toEqual(runMonth(cases, options));
  expect(runMonth(cases, { ...options, seed: 8 })).not.toEqual(runMonth(cases, options));
  const { passed, to_person } = runMonth(cases, options).late;
  expect(passed.of / to_person.of).toBeGreaterThan(0.015);
  expect(passed.of / to_person.of).toBeLessThan(0.045);
});

test('a right spend that is asked about only with its words counts as punished for them', () => {
  const assess: Assess = (_authority, { action }) =>
    judged({ assessment: action.description === undefined ? 'PURPOSE_ALIGNED' : 'PURPOSE_UNCLEAR' });
  const { punished } = runMonth(cases, { ...SIZE, assess }).late;
  expect(punished.count).toBeGreaterThan(punished.of / 2);
});

const STANDING = { agents: 6, spends: 200, new_words: 0.1, seed: 7, over_threshold: 0.3 };
const standingMonth = (assess: Assess, answering: Answering) =>
  runStandingMonth(cases, { ...STANDING, assess, answering });

test('a review that comes again is answered ahead, within the amount that was granted', () => {
  const aligned: Assess = () => judged({});
  const never = standingMonth(aligned, 'never');
  const again = standingMonth(aligned, 'when it comes again');
  const at_once = standingMonth(aligned, 'at once');
  expect(never.made).toBe(0);
  expect(never.left.again).toBeGreaterThan(never.reviews.count / 2);
  expect(again.left.again).toBeLessThan(never.left.again / 4);
  expect(at_once.left.again).toBeLessThanOrEqual(again.left.again);
  // Twenty times the first amount does not last the month where many spends come.
  expect(at_once.left.again).toBeGreaterThan(0);
  expect(again.reviews.of).toBe(never.reviews.of);
  // A wrong spend that only the threshold stopped passes where it was answered ahead.
  expect(again.passed.count).toBe(never.passed.count + again.answered_wrongly);
});

test('a standing approval answers no spend that is called MISALIGNED, and none before it was made', () => {
  const misaligned: Assess = () => judged({ assessment: 'PURPOSE_MISALIGNED' });
  const month = standingMonth(misaligned, 'at once');
  expect(month.made).toBe(0);
  expect(month.reviews.count).toBe(month.reviews.of);
  expect(month.left.unanswerable + month.left.wrong).toBe(month.reviews.count);
  expect(month.passed.count).toBe(0);
});

test('where each question is asked once, standing approvals save nothing', () => {
  const options = { ...STANDING, over_threshold: null, assess: asksOnce };
  const [never, again] = (['never', 'when it comes again'] as const).map((answering) =>
    runStandingMonth(cases, { ...options, answering }),
  );
  expect(never?.left.again).toBe(0);
  expect(again?.reviews).toEqual(never?.reviews);
});

test('the table of standing approvals compares each way to answer with the month without', () => {
  const settings = { agents: 2, spends: 100, seeds: [1, 2] };
  const rows = measureStanding(cases, () => judged({}), settings);
  const lines = renderStanding(rows, settings).trim().split('\n');
  expect(lines.filter((line) => line.startsWith('| '))).toHaveLength(2 + 6);
  const with_threshold = lines.filter((line) => line.includes('threshold that'));
  expect(with_threshold.map((line) => line.split('|')[5]?.trim() === '')).toEqual([true, false, false]);
});

test('the month of a file that is put aside is looked at once', async () => {
  const looks = `${await mkdtemp(`${tmpdir()}/looks-`)}/looks.txt`;
  await writeFile(looks, '# Looks.\n');
  const look = { day: '2026-01-01', method: 'built-in/1', file: 'month-first.jsonl', why: 'to see it' };
  await expect(recordMonthLook({ ...look, why: ' ' }, looks)).rejects.toThrow('reason');
  await recordMonthLook(look, looks);
  await recordMonthLook({ ...look, file: 'month-second.jsonl' }, looks);
  await expect(recordMonthLook(look, looks)).rejects.toThrow('looked at before');
  expect((await readFile(looks, 'utf8')).split('\n')).toHaveLength(4);
});
