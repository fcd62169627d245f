import type { ReportBody } from '@purser/contract/reports';
import { MAX_QUESTIONS } from '@purser/contract/values/reports';
import type { Agent } from '@purser/rules/domain/agents';
import { firstIdAt } from '@purser/rules/values/ids';
import { valueIn } from '@purser/rules/values/maps';
import type { Static } from 'typebox';
import type { Queryable } from '../storage/database.ts';
import { loadQuestions } from '../storage/derived/questions.ts';

/** The newest records of asked questions that a report looks at. */
const MAX_ASKED = 50_000;
const DAY_MS = 86_400_000;

/** The questions of a report. */
export type ReportedQuestions = Static<typeof ReportBody>['questions'];

interface AskedRow {
  decision_id: string;
  agent_id: string;
  question_id: string;
}

/** Loads which decisions of a period asked which questions in SHADOW. */
async function loadAsked(
  db: Queryable,
  workspace_id: string,
  { agent_id, from, to }: { agent_id: string | null; from: string; to: string },
): Promise<AskedRow[]> {
  const result = await db.query<AskedRow & { workspace_id: string }>({
    name: 'load_asked_questions',
    text: `select e.decision_id, e.agent_id, e.question_id from (
        select decision_id, agent_id, question_id from question_events
        where workspace_id = $1 and what = 'ASKED' and decision_id >= $2 and decision_id < $3
          and ($4::text is null or agent_id = $4) order by decision_id desc limit ${MAX_ASKED}) as e
      cross join lateral (
        select from decisions d where d.workspace_id = $1 and d.decision_id = e.decision_id and d.mode = 'SHADOW'
        limit 1) as d`,
    values: [
      workspace_id,
      firstIdAt('decision', Date.parse(from)),
      firstIdAt('decision', Date.parse(to)),
      agent_id,
    ],
  });
  return result.rows;
}

const nameOf = ({ agent_id, question_id }: Pick<AskedRow, 'agent_id' | 'question_id'>) =>
  `${agent_id} ${question_id}`;

function messageOf(count: number, days: number, answered: number, share: number): string {
  const asked = `${count === 1 ? '1 question' : `${count} questions`} in ${days === 1 ? '1 day' : `${days} days`}`;
  if (answered === 0) return `${asked}.`;
  const these = answered === 1 ? 'this one' : `these ${answered}`;
  return `${asked}; answer ${these}, and ${Math.round(100 * share)} % of what was asked would not be asked again.`;
}

/**
 * The questions that decisions of a period asked in SHADOW, and the open ones among them whose answers would settle most of
 * these decisions: a decision is settled where all of its questions are answered. Of many, the newest `MAX_ASKED` count.
 */
export async function countAskedQuestions(
  db: Queryable,
  workspace_id: string,
  period: { agent_id: string | null; from: string; to: string },
  agents: ReadonlyMap<string, Agent>,
): Promise<ReportedQuestions> {
  const asked = await loadAsked(db, workspace_id, period);
  const counts = new Map<string, AskedRow & { asked: number }>();
  const by_decision = new Map<string, string[]>();
  for (const row of asked) {
    valueIn(counts, nameOf(row), () => ({ ...row, asked: 0 })).asked += 1;
    valueIn(by_decision, row.decision_id, () => [] as string[]).push(nameOf(row));
  }
  const by_count = [...counts.values()].sort((a, b) => b.asked - a.asked || (nameOf(a) < nameOf(b) ? -1 : 1));
  const known = new Map(
    (
      await loadQuestions(
        db,
        by_count.map((row) => ({ workspace_id, ...row })),
      )
    ).map((row) => [nameOf(row), row]),
  );
  const isOpen = (name: string) => known.get(name)?.answer === null;
  const top = by_count.filter((row) => isOpen(nameOf(row))).slice(0, MAX_QUESTIONS);
  const settled = new Set(top.map(nameOf));
  const decisions = [...by_decision.values()];
  const spared = decisions.filter((names) =>
    names.every((name) => settled.has(name) || !isOpen(name)),
  ).length;
  const share = decisions.length === 0 ? null : spared / decisions.length;
  const days = Math.max(1, Math.ceil((Date.parse(period.to) - Date.parse(period.from)) / DAY_MS));
  return {
    count: counts.size,
    answered: [...counts.keys()].filter((name) => !isOpen(name)).length,
    decisions: decisions.length,
    top: top.flatMap((row) => {
      const question = known.get(nameOf(row));
      const agent = agents.get(row.agent_id);
      if (question === undefined || agent === undefined) return [];
      const { question_id, kind, merchant, about, sentence } = question;
      const of = { id: agent.agent_id, slug: agent.slug };
      return [{ agent: of, question_id, kind, merchant, about, sentence, asked: row.asked }];
    }),
    spared_share: share,
    message: messageOf(counts.size, days, top.length, share ?? 0),
  };
}
