import type { Decision, Label } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { purser, sentenceOf } from '../../api/client.ts';
import { invalidate } from '../../api/live.ts';
import { useMay } from '../../api/queries.ts';
import { Button } from '../../components/Button.tsx';
import { type DoneReview, useHeldReviews, useLastReview } from '../../components/decision/held-reviews.ts';
import { LabelBox } from '../../components/decision/LabelBox.tsx';
import { refusalOf } from '../../components/decision/refusals.ts';
import { keepRefusal, useRefusedReviews } from '../../components/decision/review-drafts.ts';
import { FirstReview } from '../../components/FirstSteps.tsx';
import { useKeys } from '../../components/keys/use-keys.ts';
import { Blocks } from '../../components/list/Blocks.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { Empty, GuideLink, Loading, useTitle } from '../../components/Page.tsx';
import { SkipLink } from '../../components/shell/SkipLink.tsx';
import { LoadMore } from '../../components/Table.tsx';
import type { Action } from '../../lib/hooks/use-action.ts';
import { useMedia } from '../../lib/hooks/use-media.ts';
import { withEach } from '../../lib/pages.ts';
import { labelOfReview } from '../../lib/review-reasons.ts';
import { type Row, rowOfDecision } from '../../lib/reviews/rows.ts';
import { pick, type Search } from '../../lib/search.ts';
import { toggled } from '../../lib/toggled.ts';
import { visible } from '../../lib/visible.ts';
import { words } from '../../lib/words.ts';
import { Bulk } from './Bulk.tsx';
import { BulkBar } from './BulkBar.tsx';
import type { Verdict } from './BulkDialog.tsx';
import { Filters } from './Filters.tsx';
import { GroupHead, Groups } from './Groups.tsx';
import styles from './Inbox.module.css';
import { InboxRow } from './InboxRow.tsx';
import { InboxTabs } from './InboxTabs.tsx';
import { Pane } from './Pane.tsx';
import { INBOX_FILTERS, type InboxFilters, isNarrowed, useInboxCounts, useReviews } from './use-reviews.ts';
import { useSelection } from './use-selection.ts';

const Requests = lazy(() => import('./Requests.tsx'));

export default function Inbox() {
  const { tab } = pick(useSearch({ strict: false }), ['tab']);
  if (tab !== 'requests') return <Reviews />;
  return (
    <Suspense fallback={<Loading />}>
      <Requests />
    </Suspense>
  );
}

function Reviews() {
  const search = useSearch({ strict: false });
  const { tab: search_tab, id, agent, question } = pick(search, ['tab', 'id', 'agent', 'question']);
  const tab = search_tab ?? 'waiting';
  const navigate = useNavigate();
  const url = new URLSearchParams(pick(search, [...INBOX_FILTERS, 'agent']) as Search).toString();
  const filters = useMemo(() => Object.fromEntries(new URLSearchParams(url)) as InboxFilters, [url]);
  const kept = useMemo(
    () =>
      pick({ ...filters, tab: search_tab, question }, [
        ...INBOX_FILTERS,
        'tab',
        'agent',
        'question',
      ]) as Search,
    [search_tab, filters, question],
  );
  const has_filters = tab === 'waiting' && question === undefined;
  const { list, exporting } = useReviews(tab, filters, question);
  const counts = useInboxCounts(filters, has_filters);
  const pending = useInboxCounts({}, true)?.total ?? 0;
  useTitle(pending === 0 ? 'Inbox' : `(${pending.toLocaleString('en')}) Inbox`);
  const [aside, setAside] = useState<ReadonlySet<string>>(new Set());
  const last = useLastReview();
  const held = useHeldReviews();
  const [bulk, setBulk] = useState<{ verdict: Verdict; of: 'selected' | 'question' } | null>(null);
  // It outlives the dialog, which people may close to check a row.
  const [bulk_comment, setBulkComment] = useState('');
  const may = useMay('review');
  const refused = useRefusedReviews();

  const rows = useMemo(() => {
    // A confirmed review leaves the list before it is recorded, and returns if it is undone or refused.
    const shown = tab === 'waiting' ? list.rows.filter((each) => !held.has(each.decision_id)) : list.rows;
    return [
      ...shown.filter((each) => !aside.has(each.decision_id)),
      ...shown.filter((each) => aside.has(each.decision_id)),
    ];
  }, [list.rows, aside, held, tab]);
  const { selected, onToggle, clear, deselect } = useSelection(rows);

  const open_id = useRef(id);
  open_id.current = id;
  const place = rows.findIndex((each) => each.decision_id === id);
  const go = (to: string | undefined) =>
    navigate({
      to: '/reviews',
      search: { ...kept, ...(to === undefined ? {} : { id: to }) },
      replace: id !== undefined && to !== undefined,
    });
  // The open request may have left the list. The next one is then at its place.
  const last_place = useRef(0);
  if (place >= 0) last_place.current = place;
  const step = (by: number) => {
    const from = place >= 0 ? place : last_place.current - (by > 0 ? 1 : 0);
    if (from + by >= rows.length && list.hasNextPage) void list.fetchNextPage();
    const next = rows[Math.min(rows.length - 1, Math.max(0, from + by))];
    if (next !== undefined) void go(next.decision_id);
  };
  // On a wide screen the first request opens at once, so that the first key already acts on it.
  const first = rows[0]?.decision_id;
  const is_wide = useMedia('(min-width: 60rem)');
  // biome-ignore lint/correctness/useExhaustiveDependencies: only while nothing is open
  useEffect(() => {
    if (id === undefined && first !== undefined && is_wide) void go(first);
  }, [id, first, is_wide]);

  useKeys({
    j: () => step(1),
    k: () => step(-1),
    o: () => id !== undefined && void navigate({ to: `/decisions/${id}` }),
    x: () => id !== undefined && tab === 'waiting' && onToggle(id, false),
    'Shift+X': () => id !== undefined && tab === 'waiting' && onToggle(id, true),
    z: () => {
      if (id === undefined) return false;
      const next = aside.has(id) ? undefined : (rows[place + 1] ?? rows[place - 1]);
      setAside((before) => toggled(before, id));
      if (next !== undefined) void go(next.decision_id);
    },
    'Shift+A': () => selected.size > 0 && may && setBulk({ verdict: 'ALLOW', of: 'selected' }),
    'Shift+D': () => selected.size > 0 && may && setBulk({ verdict: 'DENY', of: 'selected' }),
  });

  const takeOut = useCallback(
    (ids: ReadonlySet<string>) =>
      list.patch((pages) => withEach(pages, (each) => (ids.has(each.decision_id) ? null : each))),
    [list.patch],
  );
  const chosen = rows.filter((each) => selected.has(each.decision_id));
  const onBulkReviewed = (ids: ReadonlySet<string>) => {
    setBulkComment('');
    clear();
    for (const each of ids) keepRefusal(each, null);
    takeOut(ids);
    void invalidate('decisions');
    void invalidate('decision');
    void invalidate('questions');
  };
  const onReviewed = ({ decision_id }: Pick<Decision, 'decision_id'>) => {
    deselect(decision_id);
    const next = place < 0 ? rows[last_place.current] : (rows[place + 1] ?? rows[place - 1]);
    void go(next?.decision_id === decision_id ? undefined : next?.decision_id);
  };
  useEffect(() => {
    if (last !== null && tab === 'waiting') takeOut(new Set([last.decision.decision_id]));
  }, [last, tab, takeOut]);
  // A refusal opens its request if the reviewer has no other one open.
  const failed = [...refused].find(([, { error }]) => error !== null)?.[0];
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when a review is refused
  useEffect(() => {
    if (failed !== undefined && open_id.current === undefined) void go(failed);
  }, [failed]);

  const is_after = last !== null && tab === 'waiting';

  // A request that was reviewed elsewhere updates its row when it is opened.
  const { patch } = list;
  const onLoaded = useCallback(
    (decision: Decision) =>
      patch((pages) =>
        withEach(pages, (each) =>
          each.decision_id === decision.decision_id ? rowOfDecision(decision, each) : each,
        ),
      ),
    [patch],
  );

  return (
    <div className={styles.inbox} data-fills data-open={id !== undefined || undefined}>
      {/* A phone shows an open review without the list and its heading. */}
      {!is_wide && id !== undefined && <h1 className="visually-hidden">Inbox</h1>}
      {id !== undefined && (
        <>
          <SkipLink to="request">Skip to the request</SkipLink>
          <SkipLink to="decision">Skip to the decision</SkipLink>
        </>
      )}
      <section className={styles.left} aria-label="Requests for review">
        <Header tab={tab} exporting={exporting} />
        <div role="status" className={is_after ? undefined : 'visually-hidden'}>
          {is_after && <AfterReview key={last.review.review_id} done={last} />}
        </div>
        <RefusedElsewhere open_id={id} onShow={(decision_id) => void go(decision_id)} />
        {has_filters && <Filters filters={filters} counts={counts} />}
        {has_filters && <Groups agent={agent} />}
        {question !== undefined && (
          <QuestionHead
            question_id={question}
            rows={rows}
            has_more={list.hasNextPage}
            back={pick(kept, ['agent']) as Search}
            onVerdict={(verdict) => setBulk({ verdict, of: 'question' })}
          />
        )}
        <div className={styles.list}>
          {list.isError && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
          {list.isPending && <Loading lines={8} />}
          {list.isSuccess && rows.length === 0 && (
            <NothingHere tab={tab} is_narrowed={has_filters && isNarrowed(filters)} />
          )}
          <Blocks
            as="ul"
            of={rows}
            kept={place < 0 ? undefined : place}
            rows={(some) =>
              some.map((row) => (
                <InboxRow
                  key={row.decision_id}
                  row={row}
                  is_current={row.decision_id === id}
                  is_aside={aside.has(row.decision_id)}
                  is_selected={selected.has(row.decision_id)}
                  is_refused={refused.has(row.decision_id) && refused.get(row.decision_id)?.error !== null}
                  kept={kept}
                  onToggle={tab === 'waiting' ? onToggle : undefined}
                />
              ))
            }
            gap={(height) => <li aria-hidden="true" style={{ height }} />}
          />
          <LoadMore query={list} />
        </div>
        {selected.size > 0 && (
          <BulkBar
            count={chosen.length}
            onVerdict={(verdict) => setBulk({ verdict, of: 'selected' })}
            onClear={clear}
          />
        )}
        {bulk !== null && (
          <Bulk
            rows={bulk.of === 'question' ? rows : chosen}
            review_action={bulk.verdict}
            comment={bulk_comment}
            setComment={setBulkComment}
            question_id={bulk.of === 'question' ? question : undefined}
            onClose={(reviewed) => {
              setBulk(null);
              if (reviewed !== null) onBulkReviewed(reviewed);
            }}
          />
        )}
      </section>
      <div key={id} className={styles.right}>
        {id === undefined ? (
          tab === 'waiting' && list.isSuccess && rows.length === 0 && <FirstReview />
        ) : (
          <Pane
            id={id}
            onLoaded={onLoaded}
            onBack={() => void go(undefined)}
            has_label={tab !== 'waiting'}
            onReviewed={onReviewed}
          />
        )}
      </div>
    </div>
  );
}

function Header({ tab, exporting }: { tab: string; exporting: Action<[]> }) {
  return (
    <header className={styles.head}>
      <div className={styles.titleRow}>
        <h1>Inbox</h1>
        <GuideLink screen="Inbox" />
        <Button small kind="quiet" busy={exporting.busy} onClick={() => void exporting.run()}>
          Export CSV
        </Button>
      </div>
      {exporting.error !== null && <ErrorNotice error={exporting.error} />}
      <InboxTabs tab={tab} />
    </header>
  );
}

/** Shows failed reviews to a reviewer who has already moved on to another request. */
function RefusedElsewhere({
  open_id,
  onShow,
}: {
  open_id: string | undefined;
  onShow: (decision_id: string) => void;
}) {
  return [...useRefusedReviews()]
    .filter(([decision_id, { error }]) => decision_id !== open_id && error !== null)
    .map(([decision_id, { decision, error }]) => (
      <Notice
        key={decision_id}
        tone="bad"
        title={`Your review of ${visible(decision.action.merchant)} was not recorded.`}
        actions={
          <Button small onClick={() => onShow(decision_id)}>
            Show it
          </Button>
        }
      >
        {refusalOf(error)?.title ?? sentenceOf(error)}
      </Notice>
    ));
}

/** The question that the listed requests ask, as the first of them says it. */
function QuestionHead({
  question_id,
  rows,
  ...head
}: { question_id: string; rows: readonly Row[] } & Pick<
  Parameters<typeof GroupHead>[0],
  'has_more' | 'back' | 'onVerdict'
>) {
  const first = rows[0]?.decision_id ?? '';
  const { data } = useQuery({
    queryKey: ['decision', first],
    queryFn: async () => purser.decisions.retrieve(first),
    enabled: first !== '',
  });
  const question = data?.purpose.questions?.find((each) => each.question_id === question_id);
  return <GroupHead {...head} question={question} count={rows.length} />;
}

/** The last review made here, which can be labelled without going back. */
function AfterReview({ done: { decision, review } }: { done: DoneReview }) {
  const [label, setLabel] = useState<Label | null>(decision.label);
  return (
    <div className={styles.after}>
      <span>
        {review.action === 'ALLOW' ? 'Allowed' : 'Denied'}{' '}
        <Link to={`/decisions/${decision.decision_id}`}>{visible(decision.action.merchant)}</Link>.{' '}
        {label === null ? 'Add a label?' : `Labelled: ${words(label.label)}.`}
      </span>
      <LabelBox
        decision_id={decision.decision_id}
        label={label}
        suggested={labelOfReview(review, decision)}
        onDone={setLabel}
      />
    </div>
  );
}

function NothingHere({ tab, is_narrowed }: { tab: string; is_narrowed: boolean }) {
  if (is_narrowed)
    return <Empty title="No pending request matches">Clear the search and the filters to see all.</Empty>;
  if (tab === 'expired') {
    return <Empty title="No expired reviews">Every review in Enforce mode was made in time.</Empty>;
  }
  if (tab === 'mine') {
    return (
      <Empty title="You haven’t reviewed anything yet">Requests that you allow or deny appear here.</Empty>
    );
  }
  if (tab === 'reviewed') {
    return <Empty title="No reviews yet">Requests that people allow or deny appear here.</Empty>;
  }
  return (
    <Empty title="You’re all caught up">
      <p>Requests appear here if they exceed a review threshold or may not fit the agent’s purpose.</p>
    </Empty>
  );
}
