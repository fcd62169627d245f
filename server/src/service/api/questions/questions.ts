import { MAX_GROUPED, routes } from '@purser/contract/routes/questions';
import type { Agent } from '@purser/rules/domain/agents';
import type { QuestionRow } from '@purser/rules/domain/question-history';
import type pg from 'pg';
import { answerQuestion } from '../../../engine/commands/questions/answer-question.ts';
import { forgetAnswer } from '../../../engine/commands/questions/forget-answer.ts';
import type { Lane } from '../../../engine/lane/lane.ts';
import { loadAgents } from '../../../engine/storage/agents.ts';
import { loadAuthoritiesOf } from '../../../engine/storage/authorities.ts';
import {
  listPendingQuestions,
  listQuestions,
  loadRequesters,
  type QuestionPlace,
} from '../../../engine/storage/derived/questions.ts';
import { presentQuestions } from '../../decisions/present-questions.ts';
import { visibleAgent } from '../../decisions/visible-agent.ts';
import { type Cursors, pageOf } from '../../http/cursors.ts';
import { type Route, serve } from '../../http/route.ts';
import { originOf } from '../../people/callers.ts';

/** Makes the routes for questions that agents' spends raised, and the answers of people. */
export function makeQuestionRoutes(options: {
  db: pg.Pool;
  lists_db: pg.Pool;
  lane: Lane;
  cursors: Cursors;
}): Route[] {
  const { db, lists_db, lane, cursors } = options;

  async function present(workspace_id: string, agents: readonly Agent[], rows: readonly QuestionRow[]) {
    const authorities = await loadAuthoritiesOf(db, workspace_id, agents);
    return presentQuestions(
      lists_db,
      workspace_id,
      rows,
      (agent_id) => authorities.get(agent_id)?.purpose.objective ?? null,
    );
  }

  return [
    serve(routes.listQuestions, { shares: 'lists' })(async (call) => {
      const { limit = 50, cursor, state, kind, merchant } = call.query;
      const { workspace_id } = call.caller;
      const agent = await visibleAgent(db, call.caller, call.params.id);
      const { agent_id } = agent;
      const filters = {
        ...(state === undefined ? {} : { is_answered: state === 'answered' }),
        ...(kind === undefined ? {} : { kind }),
        ...(merchant === undefined ? {} : { merchant }),
      };
      const list = ['listQuestions', workspace_id, agent_id, filters];
      const after = JSON.parse(
        (cursors.open(list, cursor) as string | null) ?? 'null',
      ) as QuestionPlace | null;
      const page = { after, limit: limit + 1 };
      const found = await listQuestions(lists_db, workspace_id, agent_id, page, filters);
      const { rows, next_cursor } = pageOf(found, limit, ({ last_seq, question_id }) =>
        cursors.seal(list, JSON.stringify({ last_seq, question_id })),
      );
      return { status: 200, body: { data: await present(workspace_id, [agent], rows), next_cursor } };
    }),
    serve(routes.answerQuestion)(async (call) => {
      const { workspace_id } = call.caller;
      const { answer, comment = '' } = call.body;
      const agent = await visibleAgent(db, call.caller, call.params.id);
      const ref = { agent_id: agent.agent_id, question_id: call.params.question_id };
      const requesters = await loadRequesters(db, workspace_id, ref);
      const input = { ...ref, answer, comment: comment === '' ? null : comment, requesters };
      const row = await lane.submit(workspace_id, answerQuestion, input, originOf(call));
      const [body] = await present(workspace_id, [agent], [row]);
      return { status: 200, body: body as NonNullable<typeof body> };
    }),
    serve(routes.forgetAnswer)(async (call) => {
      const { agent_id } = await visibleAgent(db, call.caller, call.params.id);
      const ref = { agent_id, question_id: call.params.question_id };
      await lane.submit(call.caller.workspace_id, forgetAnswer, ref, originOf(call));
      return { status: 204 };
    }),
    serve(routes.listPendingQuestions, { shares: 'lists' })(async (call) => {
      const { limit = 50, agent: ref } = call.query;
      const { workspace_id } = call.caller;
      const agent_id = ref === undefined ? null : (await visibleAgent(db, call.caller, ref)).agent_id;
      const within = { agent_id, looked_at: MAX_GROUPED, limit };
      const rows = (await listPendingQuestions(lists_db, workspace_id, within)).map(
        ({ question }) => question,
      );
      const agents = await loadAgents(db, workspace_id, [...new Set(rows.map(({ agent_id }) => agent_id))]);
      const slugs = new Map(agents.map(({ agent_id, slug }) => [agent_id, slug]));
      const bodies = await present(workspace_id, agents, rows);
      const data = bodies.map((body, i) => {
        const { agent_id: id } = rows[i] as QuestionRow;
        return { agent: { id, slug: slugs.get(id) ?? id }, ...body };
      });
      return { status: 200, body: { data, next_cursor: null } };
    }),
  ];
}
