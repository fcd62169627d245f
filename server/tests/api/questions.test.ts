import type { Decision } from '@purser/contract/decisions';
import type { QuestionKind } from '@purser/contract/purpose/questions';
import fc from 'fast-check';
import { expect } from 'vitest';
import { type AskedSpend, makeAsker } from '../support/questions.ts';
import { freshKey, refusal } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const { test, s, get, post, walk, makeAgent } = serviceTest({ plan: 'enterprise' });

let asker: ReturnType<typeof makeAsker>;
let elsewhere: ReturnType<typeof makeAsker>;
let asking_key: string;
let reviewer: string;
test.beforeAll(async () => {
  asker = makeAsker(s);
  elsewhere = makeAsker(s);
  asking_key = (await post('/v1/api-keys', { name: 'asks', scopes: ['authorize'], principal_id: 'user:bot' }))
    .id;
  const reviewing = { name: 'reviews', scopes: ['review', 'read'], principal_id: 'user:ann' };
  reviewer = (await post('/v1/api-keys', reviewing)).key;
});
test.afterAll(async () => {
  await asker.close();
  await elsewhere.close();
});

async function newAgent(authority: object = {}, mode = 'ENFORCE') {
  const slug = await makeAgent(authority, { slug: freshKey(), mode });
  const { id } = await get(`/v1/agents/${slug}`);
  const ask = (
    kinds: readonly QuestionKind[],
    more: Partial<AskedSpend> = {},
    on: typeof asker = asker,
  ): Promise<Decision> => on.ask(asking_key, { agent_id: id, kinds, ...more });
  return { slug, ask, questions: `/v1/agents/${slug}/questions` };
}

const review = (decision: Decision, action: 'ALLOW' | 'DENY', more: object = {}) =>
  post(
    `/v1/decisions/${decision.decision_id}/reviews`,
    { action, reason_code: 'CHECKED', ...more },
    reviewer,
  );
const label = (decision: Decision, said: string, more: object = {}) =>
  post(`/v1/decisions/${decision.decision_id}/labels`, { label: said, ...more }, reviewer);
const answer = (path: string, said: 'YES' | 'NO', more: object = {}, key = reviewer) =>
  s.call('POST', `${path}/answer`, { key, body: { answer: said, ...more } });

/** The answers that a decision went by, by kind; null where the question was open. */
const answersIn = ({ purpose: { questions = [] } }: Decision) =>
  Object.fromEntries(questions.map(({ kind, answered }) => [kind, answered?.answer ?? null]));
const idOf = ({ purpose: { questions = [] } }: Decision, kind: QuestionKind) =>
  questions.find((question) => question.kind === kind)?.question_id as string;

test('a review answers from the very next decision on, on every node', async () => {
  const { ask } = await newAgent();
  const first = await ask(['new_merchant']);
  expect(first).toMatchObject({ decision: 'REVIEW', purpose: { assessment: 'PURPOSE_UNCLEAR' } });
  expect(first.purpose.questions).toMatchObject([{ kind: 'new_merchant', asked_before: 0, answered: null }]);
  expect((await ask(['new_merchant'], {}, elsewhere)).purpose.questions).toMatchObject([
    { asked_before: 1, answered: null },
  ]);
  const reviewed = await review(first, 'ALLOW');
  expect(reviewed.questions).toEqual([idOf(first, 'new_merchant')]);
  for (const node of [asker, elsewhere]) {
    const next = await ask(['new_merchant'], {}, node);
    expect(next.decision).toBe('ALLOW');
    expect(next.purpose.questions).toMatchObject([
      { asked_before: 2, answered: { answer: 'YES', by: 'user:ann', at: reviewed.created_at } },
    ]);
  }
});

test('a decision that asks nothing says so', async () => {
  const { ask } = await newAgent();
  expect((await ask([])).purpose.questions).toEqual([]);
});

test('a label answers as a review does, and PURPOSE_UNCLEAR answers nothing', async () => {
  const { ask } = await newAgent();
  const first = await ask(['condition']);
  expect((await label(first, 'PURPOSE_UNCLEAR')).questions).toEqual([]);
  expect(answersIn(await ask(['condition']))).toEqual({ condition: null });
  const said = await label(first, 'PURPOSE_ALIGNED');
  expect(answersIn(await ask(['condition']))).toEqual({ condition: 'YES' });
  await label(first, 'PURPOSE_MISALIGNED', { supersedes: said.label_id });
  const next = await ask(['condition']);
  expect(answersIn(next)).toEqual({ condition: 'NO' });
  expect(next.purpose.assessment).toBe('PURPOSE_MISALIGNED');
});

test('a NO answers what it names, and leaves the merchant and every YES to something else alone', async () => {
  const { ask } = await newAgent();
  await review(await ask(['new_merchant', 'condition']), 'ALLOW');
  const doubted = await ask(['new_merchant', 'condition', 'other_goods']);
  expect(answersIn(doubted)).toEqual({ new_merchant: 'YES', condition: 'YES', other_goods: null });
  expect((await review(doubted, 'DENY')).questions).toEqual([idOf(doubted, 'other_goods')]);
  const all = await ask(['new_merchant', 'condition', 'other_goods']);
  expect(answersIn(all)).toEqual({ new_merchant: 'YES', condition: 'YES', other_goods: 'NO' });
  expect((await ask(['new_merchant', 'condition'])).decision).toBe('ALLOW');

  const two = await ask(['new_words', 'prohibited']);
  const named = [idOf(two, 'prohibited')];
  expect((await review(two, 'DENY', { questions: named })).questions).toEqual(named);
  expect(answersIn(await ask(['new_words', 'prohibited']))).toEqual({ new_words: null, prohibited: 'NO' });
});

test('a NO is about the merchant only where nothing else was asked', async () => {
  const { ask } = await newAgent();
  await review(await ask(['new_merchant', 'condition']), 'DENY');
  expect(answersIn(await ask(['new_merchant', 'condition']))).toEqual({
    new_merchant: null,
    condition: 'NO',
  });
  await review(await ask(['new_merchant']), 'DENY');
  expect(answersIn(await ask(['new_merchant']))).toEqual({ new_merchant: 'NO' });
});

test('a DENY of a spend that raised nothing open withdraws no approval; a label does', async () => {
  const { ask } = await newAgent({ review_threshold_minor: 50 });
  await review(await ask(['condition']), 'ALLOW');
  const settled = await ask(['condition'], { amount_minor: 60 });
  expect(settled).toMatchObject({ decision: 'REVIEW' });
  expect((await review(settled, 'DENY')).questions).toEqual([]);
  expect(answersIn(await ask(['condition']))).toEqual({ condition: 'YES' });
  await label(settled, 'PURPOSE_MISALIGNED');
  expect(answersIn(await ask(['condition']))).toEqual({ condition: 'NO' });
});

test('a review or label names only questions of its decision', async () => {
  const { ask } = await newAgent();
  const [one, other] = [await ask(['condition']), await ask(['new_words'])];
  for (const [path, body] of [
    ['reviews', { action: 'DENY', reason_code: 'NO' }],
    ['labels', { label: 'PURPOSE_MISALIGNED' }],
  ] as const) {
    const reply = await s.call('POST', `/v1/decisions/${one.decision_id}/${path}`, {
      key: reviewer,
      body: { ...body, questions: [idOf(one, 'condition'), idOf(other, 'new_words')] },
    });
    expect(refusal(reply)).toEqual([400, 'invalid_request']);
    expect(reply.body.error.message).toContain('questions[1]');
  }
});

test('in SHADOW a later review answers again, and both answers remain visible', async () => {
  const { ask, questions } = await newAgent({}, 'SHADOW');
  const asked = await ask(['condition']);
  const first = await review(asked, 'ALLOW', { comment: 'Fine' });
  const second = await review(asked, 'DENY', { supersedes: first.review_id });
  expect(answersIn(await ask(['condition']))).toEqual({ condition: 'NO' });
  const [question] = await walk(questions);
  expect(question).toMatchObject({
    answered: { answer: 'NO', by: 'user:ann', at: second.created_at, decision_id: asked.decision_id },
    earlier: [{ answer: 'YES', by: 'user:ann', at: first.created_at, comment: 'Fine' }],
  });
});

test('a larger amount than three times the largest one allowed asks again', async () => {
  const { ask, questions } = await newAgent();
  await review(await ask(['new_merchant'], { amount_minor: 1_000 }), 'ALLOW');
  expect((await ask(['new_merchant'], { amount_minor: 3_000 })).decision).toBe('ALLOW');
  const larger = await ask(['new_merchant'], { amount_minor: 3_001 });
  expect(answersIn(larger)).toEqual({ new_merchant: null });
  expect(larger.decision).toBe('REVIEW');
  await review(larger, 'ALLOW');
  expect((await ask(['new_merchant'], { amount_minor: 9_003 })).decision).toBe('ALLOW');
  const [question] = await walk(questions);
  expect(question).toMatchObject({
    asked: 2,
    amounts: [{ currency: 'EUR', amount_minor: 3_001 }],
    answered: { allowed: [{ currency: 'EUR', amount_minor: 3_001 }] },
  });
});

test('another objective has no answers, and the earlier one has them again', async () => {
  const { slug, ask, questions } = await newAgent();
  await review(await ask(['new_merchant']), 'ALLOW');
  const { authority } = await get(`/v1/agents/${slug}/authority`);
  const purpose = { ...authority.purpose, objective: 'Rent cars for visits.' };
  await post(`/v1/agents/${slug}/authority`, { ...authority, purpose });
  expect(answersIn(await ask(['new_merchant']))).toEqual({ new_merchant: null });
  expect((await walk(questions)).map((each) => each.of_present_objective)).toEqual([true, false]);
  await post(`/v1/agents/${slug}/authority`, authority);
  expect(answersIn(await ask(['new_merchant']))).toEqual({ new_merchant: 'YES' });
});

test('agents share no answers', async () => {
  const [one, other] = [await newAgent(), await newAgent()];
  await review(await one.ask(['new_merchant']), 'ALLOW');
  expect(answersIn(await other.ask(['new_merchant']))).toEqual({ new_merchant: null });
});

test('a question is answered by itself, for all amounts and payees that asked it, and forgotten', async () => {
  const { ask, questions } = await newAgent();
  const first = await ask(['other_goods'], { payee_id: 'iban:1' });
  const second = await ask(['other_goods'], { amount_minor: 700 });
  const path = `${questions}/${idOf(first, 'other_goods')}`;
  const { status, body } = await answer(path, 'YES', { comment: 'Always' });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    kind: 'other_goods',
    merchant: 'Acme',
    asked: 2,
    pending: 2,
    payee_ids: ['iban:1'],
    examples: [
      { decision_id: second.decision_id, amount_minor: 700, payee_id: null },
      { decision_id: first.decision_id, amount_minor: 100, payee_id: 'iban:1' },
    ],
    answered: { answer: 'YES', by: 'user:ann', comment: 'Always', decision_id: null },
    earlier: [],
  });
  expect((await ask(['other_goods'], { amount_minor: 2_100 })).decision).toBe('ALLOW');
  // The pending ones are still to be reviewed, and are found.
  const found = await walk(`/v1/decisions?question_id=${body.question_id}&review_state=PENDING`);
  expect(found.map((each) => each.decision_id)).toEqual([second.decision_id, first.decision_id]);
  await review(second, 'DENY');
  expect((await walk(questions))[0]).toMatchObject({ pending: 1, answered: { answer: 'NO' } });

  for (let i = 0; i < 2; i++) {
    expect((await s.call('DELETE', `${path}/answer`)).status).toBe(204);
    expect(answersIn(await ask(['other_goods']))).toEqual({ other_goods: null });
  }
  const [forgotten] = await walk(questions);
  expect(forgotten).toMatchObject({
    answered: null,
    earlier: [{ answer: null }, { answer: 'NO' }, { answer: 'YES' }],
  });
  const actions = (await walk('/v1/audit?action=question.answered,question.forgotten')).filter(
    (each) => each.target.id === body.question_id,
  );
  expect(actions.map((each) => each.action)).toEqual(['question.forgotten', 'question.answered']);
});

test('who requested a spend answers none of its questions, whatever the way', async () => {
  const { slug, ask, questions } = await newAgent();
  const made = await post('/v1/api-keys', {
    name: 'both',
    scopes: ['authorize', 'review', 'read'],
    principal_id: 'user:bot',
  });
  const asked = await ask(['condition']);
  const path = `${questions}/${idOf(asked, 'condition')}`;
  expect(refusal(await answer(path, 'YES', {}, made.key))).toEqual([403, 'self_review_forbidden']);
  const labels = `/v1/decisions/${asked.decision_id}/labels`;
  expect((await post(labels, { label: 'PURPOSE_ALIGNED' }, made.key)).questions).toEqual([]);
  expect(answersIn(await ask(['condition']))).toEqual({ condition: null });
  const own = await post('/v1/api-keys', { name: 'own', agent_id: slug });
  const adapter = await post('/v1/api-keys', { name: 'rail', scopes: ['consume'] });
  for (const { key } of [own, adapter])
    expect((await answer(path, 'YES', {}, key)).status).toBeGreaterThanOrEqual(403);
  expect((await answer(path, 'YES')).status).toBe(200);
});

test('who made the key that requested a spend answers nothing where makers are kept apart', async () => {
  const { ask, questions } = await newAgent();
  await s.call('PATCH', '/v1/workspace', { body: { separation_of_duties: 'MAKER' } });
  try {
    const maker = await post('/v1/api-keys', {
      name: 'maker',
      scopes: ['admin', 'authorize', 'review', 'read'],
      principal_id: 'user:maker',
    });
    const made = await post('/v1/api-keys', { name: 'made', scopes: ['authorize'] }, maker.key);
    const agent_id = (await ask([])).agent.id;
    const asked = await asker.ask(made.id, { agent_id, kinds: ['condition'] });
    const path = `${questions}/${idOf(asked, 'condition')}`;
    const by_maker = await answer(path, 'YES', {}, maker.key);
    const said = await post(
      `/v1/decisions/${asked.decision_id}/labels`,
      { label: 'PURPOSE_ALIGNED' },
      maker.key,
    );
    // A label and an answer follow the same rule.
    expect(by_maker.status === 200).toBe(said.questions.length === 1);
  } finally {
    await s.call('PATCH', '/v1/workspace', { body: { separation_of_duties: 'AUTO' } });
  }
});

test('the list has filters and pages, and the questions of pending reviews are grouped', async () => {
  const { slug, ask, questions } = await newAgent();
  for (const merchant of ['Alpha', 'Beta 100%', 'Gamma'])
    await ask(['new_merchant', 'condition'], { merchant });
  await review(await ask(['new_merchant'], { merchant: 'Alpha' }), 'ALLOW');
  const names = async (query: string) =>
    (await walk(`${questions}?${query}`)).map(({ merchant, kind }) => `${merchant} ${kind}`);
  expect(await names('')).toHaveLength(6);
  expect(await names('state=answered')).toEqual(['Alpha new_merchant']);
  expect(await names('state=open&kind=new_merchant')).toEqual([
    'Gamma new_merchant',
    'Beta 100% new_merchant',
  ]);
  expect(await names('merchant=00%25')).toHaveLength(2);
  await ask(['condition'], { merchant: 'Gamma' });
  const { data } = await get(`/v1/questions?agent=${slug}`);
  expect(data[0]).toMatchObject({ agent: { slug }, merchant: 'Gamma', kind: 'condition', pending: 2 });
  expect(data).toHaveLength(5);
});

test('a question of another agent, or none, is not found', async () => {
  const [one, other] = [await newAgent(), await newAgent()];
  const path = `${other.questions}/${idOf(await one.ask(['condition']), 'condition')}`;
  expect(refusal(await answer(path, 'YES'))).toEqual([404, 'not_found']);
  expect(refusal(await s.call('DELETE', `${path}/answer`))).toEqual([404, 'not_found']);
});

test('no decision made after an answer was acknowledged asks the question again, however many are under way', async () => {
  const KINDS = ['new_merchant', 'condition', 'other_goods', 'new_words'] as const;
  const ways = ['review', 'label', 'itself', 'none', 'none'] as const;
  const turn = fc.record({
    kinds: fc.uniqueArray(fc.constantFrom(...KINDS), { minLength: 1 }),
    way: fc.constantFrom(...ways),
    yes: fc.boolean(),
    there: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(turn, { minLength: 2, maxLength: 3 }), { minLength: 25, maxLength: 25 }),
      async (tasks) => {
        const { slug, ask, questions } = await newAgent({}, 'SHADOW');
        const acknowledged = new Set<string>();
        await Promise.all(
          tasks.map(async (turns) => {
            for (const { kinds, way, yes, there } of turns) {
              const known = new Set(acknowledged);
              // Where answers change all the time, a decision may be refused, and is asked for again.
              let decision: Decision | undefined;
              while (decision === undefined) {
                decision = await ask(kinds, {}, there ? elsewhere : asker).catch((error) => {
                  if (error.code !== 'unavailable') throw error;
                  return undefined;
                });
              }
              const asked = decision.purpose.questions ?? [];
              expect(asked.map(({ kind }) => kind)).toEqual(kinds);
              for (const { question_id, answered } of asked)
                if (known.has(question_id)) expect(answered).not.toBeNull();
              if (way === 'none') continue;
              let answered: string[];
              if (way === 'itself') {
                answered = [idOf(decision, kinds[0] as QuestionKind)];
                const said = await answer(`${questions}/${answered[0]}`, yes ? 'YES' : 'NO');
                expect(said.status).toBe(200);
              } else if (way === 'label' || decision.decision !== 'REVIEW')
                answered = (await label(decision, yes ? 'PURPOSE_ALIGNED' : 'PURPOSE_MISALIGNED')).questions;
              else answered = (await review(decision, yes ? 'ALLOW' : 'DENY')).questions;
              for (const id of answered) acknowledged.add(id);
            }
          }),
        );
        // Each decision counts those before it that asked the same.
        for (const { asked, question_id, earlier, answered } of await walk(questions)) {
          const found = await walk(`/v1/decisions?agent=${slug}&question_id=${question_id}`, { limit: 200 });
          expect(found).toHaveLength(asked);
          const before = found.map(
            (each) =>
              each.purpose.questions.find((one: { question_id: string }) => one.question_id === question_id)
                .asked_before,
          );
          expect(before.sort((a, b) => a - b)).toEqual(found.map((_, i) => i));
          if (acknowledged.has(question_id)) expect([answered, ...earlier].length).toBeGreaterThan(0);
        }
      },
    ),
    { numRuns: 2, seed: 20_261_124, endOnFailure: true },
  );
  expect(await get('/v1/ledger/verify')).toMatchObject({ valid: true, breaks: [] });
});

test('a decision made before there were questions is read, reviewed and labelled', async () => {
  const { ask } = await newAgent({ review_threshold_minor: 50 });
  const { decision_id } = await ask([], { amount_minor: 60 });
  await s.sql(
    `update decisions set document = replace(document, ',"questions":[]', '') where decision_id = $1`,
    [decision_id],
  );
  const old = await get(`/v1/decisions/${decision_id}`);
  expect(old.purpose).not.toHaveProperty('questions');
  expect((await review(old, 'ALLOW')).questions).toEqual([]);
  expect((await label(old, 'PURPOSE_MISALIGNED')).questions).toEqual([]);
});

test('the report names the questions to answer first, and what their answers would settle', async () => {
  const { slug, ask } = await newAgent({}, 'SHADOW');
  for (let i = 0; i < 3; i++) await ask(['new_merchant'], { merchant: 'Often' });
  const both = await ask(['condition', 'new_words'], { merchant: 'Once' });
  const report = () => get(`/v1/reports/shadow?agent=${slug}`);
  expect((await report()).questions).toMatchObject({
    count: 3,
    answered: 0,
    decisions: 4,
    spared_share: 1,
    top: [{ merchant: 'Often', kind: 'new_merchant', asked: 3, agent: { slug } }, { asked: 1 }, { asked: 1 }],
    message: expect.stringMatching(/^3 questions in 30 days; answer these 3, and 100 % of what was asked/),
  });
  await review(both, 'ALLOW');
  expect((await report()).questions).toMatchObject({ count: 3, answered: 2, top: [{ merchant: 'Often' }] });
  for (let i = 0; i < 20; i++) await ask(['condition'], { merchant: `Shop ${i}` });
  const { top, spared_share } = (await report()).questions;
  expect(top).toHaveLength(12);
  expect(spared_share).toBeCloseTo((3 + 1 + 11) / 24);
});

test('a simulation goes by the answers in force now, and another objective has none', async () => {
  const { slug, ask } = await newAgent({ on_purpose_unclear: 'REVIEW' }, 'SHADOW');
  const asked = await ask(['new_merchant'], { merchant: 'Nobody Knows Ltd' });
  const { authority } = await get(`/v1/agents/${slug}/authority`);
  const simulate = async (draft: object) => {
    const reply = await s.call('POST', `/v1/agents/${slug}/authority/simulate`, { body: draft });
    expect(reply.status, reply.text).toBe(200);
    return reply.body.draft;
  };
  expect(await simulate(authority)).toMatchObject({ review: 1 });
  await review(asked, 'DENY');
  // The service's own rules assess it again, whose question has another name where they word it otherwise.
  const replayed = await simulate({
    ...authority,
    purpose: { ...authority.purpose, objective: 'Rent cars.' },
  });
  expect(replayed).toMatchObject({ deny: 0 });
});
