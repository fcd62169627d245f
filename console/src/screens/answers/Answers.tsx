import { QUESTION_KINDS } from '@purser/contract/purpose/questions';
import type { AskedQuestion, ListQuestionsQuery } from '@purser/sdk';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { purser } from '../../api/client.ts';
import { type PageQuery, useList } from '../../api/lists.ts';
import { invalidate } from '../../api/live.ts';
import { AgentTabs } from '../../components/AgentTabs.tsx';
import { Confirm } from '../../components/Confirm.tsx';
import { type Filter, Filters } from '../../components/Filters.tsx';
import { Blocks } from '../../components/list/Blocks.tsx';
import { type CsvColumns, ExportCsv } from '../../components/list/ExportCsv.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { AgentName } from '../../components/names/AgentName.tsx';
import { Card, Empty, Loading, Page } from '../../components/Page.tsx';
import { AnswerDialog } from '../../components/questions/AnswerDialog.tsx';
import { QuestionRow } from '../../components/questions/QuestionRow.tsx';
import { LoadMore } from '../../components/Table.tsx';
import { withEach } from '../../lib/pages.ts';
import { pick } from '../../lib/search.ts';
import { words } from '../../lib/words.ts';

const FILTERS: readonly Filter[] = [
  {
    param: 'state',
    name: 'State',
    options: [
      ['open', 'Open'],
      ['answered', 'Answered'],
    ],
  },
  { param: 'kind', name: 'Kind', options: QUESTION_KINDS.map((kind) => [kind, words(kind)] as const) },
  { param: 'merchant', name: 'Merchant', type: 'search', placeholder: 'Part of the name' },
];
const PARAMS = FILTERS.map(({ param }) => param);

const CSV: CsvColumns<AskedQuestion> = [
  ['question_id', (each) => each.question_id],
  ['kind', (each) => each.kind],
  ['merchant', (each) => each.merchant],
  ['sentence', (each) => each.sentence],
  ['clause', (each) => each.about?.clause?.text ?? null],
  ['words', (each) => each.about?.words.join(', ') ?? null],
  ['asked', (each) => each.asked],
  ['pending', (each) => each.pending],
  ['last_asked_at', (each) => each.last_asked_at],
  ['answer', (each) => each.answered?.answer ?? null],
  ['answered_by', (each) => each.answered?.by ?? null],
  ['answered_at', (each) => each.answered?.at ?? null],
  ['comment', (each) => each.answered?.comment ?? null],
];

/** The action that the person has begun on a question. */
type Doing = { question: AskedQuestion; what: 'YES' | 'NO' | 'forget' };

export default function Answers() {
  const { slug = '' } = useParams({ strict: false }) as { slug?: string };
  const filters = pick(useSearch({ strict: false }), PARAMS);
  const is_filtered = Object.keys(filters).length > 0;
  const fetchPage = (page: PageQuery) =>
    purser.agents.questions.list(slug, { ...filters, ...page } as ListQuestionsQuery);
  const list = useList<AskedQuestion>(['questions', 'of', slug, filters], fetchPage, {
    mode: 'first',
    idOf: (each) => each.question_id,
  });
  const [doing, setDoing] = useState<Doing | null>(null);
  const [done, setDone] = useState('');
  const replace = (after: AskedQuestion) =>
    list.patch((pages) => withEach(pages, (each) => (each.question_id === after.question_id ? after : each)));
  return (
    <Page
      title="Answers"
      above={
        <Link to={`/agents/${slug}`}>
          ← <AgentName of={{ slug }} />
        </Link>
      }
      lead="What this agent’s requests left in doubt, and what reviewers answered. Each question is asked until somebody answers it."
      actions={<ExportCsv name={`answers-${slug}`} columns={CSV} fetch={fetchPage} />}
    >
      <AgentTabs slug={slug} at="answers" />
      <Filters filters={FILTERS} search={filters as Record<string, string>} to={`/agents/${slug}/answers`} />
      <p className="visually-hidden" role="status">
        {done}
      </p>
      {list.isError && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
      <Card flush={list.rows.length > 0}>
        {list.isPending && <Loading lines={6} />}
        {list.isSuccess && list.rows.length === 0 && <Nothing is_filtered={is_filtered} />}
        <Blocks
          as="ul"
          of={list.rows}
          rows={(some) =>
            some.map((question) => (
              <QuestionRow
                key={question.question_id}
                agent={slug}
                question={question}
                onDo={(what) => setDoing({ question, what })}
              />
            ))
          }
          gap={(height) => <li aria-hidden="true" style={{ height }} />}
        />
        <LoadMore query={list} />
      </Card>
      {doing !== null && doing.what !== 'forget' && (
        <AnswerDialog
          agent={slug}
          question={doing.question}
          answer={doing.what}
          onClose={() => setDoing(null)}
          onAnswered={(after) => {
            replace(after);
            setDone(`Answered ${after.answered?.answer === 'YES' ? 'yes' : 'no'}.`);
          }}
        />
      )}
      {doing?.what === 'forget' && (
        <Confirm
          title="Forget this answer?"
          action="Forget"
          onClose={() => setDoing(null)}
          work={async () => {
            const { question } = doing;
            await purser.agents.questions.forget(slug, question.question_id);
            replace({ ...question, answered: null });
            setDone('Answer forgotten.');
            await invalidate('questions');
          }}
        >
          <p>
            From the next request on, the question is open and reviewers are asked again. The answer stays
            visible among the earlier ones.
          </p>
        </Confirm>
      )}
    </Page>
  );
}

function Nothing({ is_filtered }: { is_filtered: boolean }) {
  if (is_filtered) {
    return (
      <Empty title="No such questions">
        <p>No question of this agent matches the filters.</p>
      </Empty>
    );
  }
  return (
    <Empty title="No questions yet">
      <p>
        A request that may not fit the agent’s purpose asks a question here, and your answer settles it for
        the requests that follow.
      </p>
    </Empty>
  );
}
