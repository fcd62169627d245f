import type { Decision, Label, RecordedReview } from '@purser/sdk';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { sentenceOf } from '../../api/client.ts';
import { invalidate, pollNow } from '../../api/live.ts';
import { useMay } from '../../api/queries.ts';
import { Button } from '../../components/Button.tsx';
import { LabelBox } from '../../components/decision/LabelBox.tsx';
import { refusalOf } from '../../components/decision/refusals.ts';
import { keepRefusal, useRefusedReviews } from '../../components/decision/review-drafts.ts';
import { FirstReview } from '../../components/FirstSteps.tsx';
import { useKeys } from '../../components/keys/use-keys.ts';
import { Blocks } from '../../components/list/Blocks.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { Empty, Loading, Tabs, useTitle } from '../../components/Page.tsx';
import { LoadMore } from '../../components/Table.tsx';
import type { Action } from '../../lib/hooks/use-action.ts';
import { useMedia } from '../../lib/hooks/use-media.ts';
import { withEach } from '../../lib/pages.ts';
import { labelOfReview } from '../../lib/review-reasons.ts';
import { pick, type Search } from '../../lib/search.ts';
import { toggled } from '../../lib/toggled.ts';
import { visible } from '../../lib/visible.ts';
import { words } from '../../lib/words.ts';
import { BulkBar } from './BulkBar.tsx';
import { BulkDialog, type Verdict } from './BulkDialog.tsx';
import { GroupHead, Groups, questionIn } from './Groups.tsx';
import styles from './Inbox.module.css';
import { InboxRow } from './InboxRow.tsx';
import { Pane } from './Pane.tsx';
import { TABS, useReviews } from './use-reviews.ts';
import { useSelection } from './use-selection.ts';

/** The last review made here, which can be labelled without going back. */
interface Done {
  decision: Decision;
  review: RecordedReview;
  label: Label | null;
}

export default function Inbox() {
  useTitle('Inbox');
  const search = useSearch({ strict: false });
  const { tab: search_tab, id, agent, question } = pick(search, ['tab', 'id', 'agent', 'question']);
  const tab = search_tab ?? 'waiting';
  const navigate = useNavigate();
  const kept = useMemo(
    () => pick({ tab: search_tab, agent, question }, ['tab', 'agent', 'question']) as Search,
    [search_tab, agent, question],
  );
  const { list, exporting } = useReviews(tab, agent, question);
  const [aside, setAside] = useState<ReadonlySet<string>>(new Set());
  const [done, setDone] = useState<Done | null>(null);
  const [bulk, setBulk] = useState<{ verdict: Verdict; of: 'selected' | 'question' } | null>(null);
  // It outlives the dialog, which people may close to check a row.
  const [bulk_comment, setBulkComment] = useState('');
  const may = useMay('review');
  const refused = useRefusedReviews();

  const rows = useMemo(
    () => [
      ...list.rows.filter((each) => !aside.has(each.decision_id)),
      ...list.rows.filter((each) => aside.has(each.decision_id)),
    ],
    [list.rows, aside],
  );
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

  const takeOut = (ids: ReadonlySet<string>) =>
    list.patch((pages) => withEach(pages, (each) => (ids.has(each.decision_id) ? null : each)));
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
  const onReviewed = (decision: Decision, review: RecordedReview) => {
    setDone({ decision, review, label: decision.label });
    deselect(decision.decision_id);
    const next = place < 0 ? rows[last_place.current] : (rows[place + 1] ?? rows[place - 1]);
    if (tab === 'waiting') takeOut(new Set([decision.decision_id]));
    void invalidate('decision', decision.decision_id);
    void invalidate('decisions');
    void invalidate('questions');
    pollNow();
    // A reviewer who moved on in the meantime stays where they are.
    if (open_id.current !== decision.decision_id) return;
    void go(next?.decision_id === decision.decision_id ? undefined : next?.decision_id);
  };

  const is_after = done !== null && tab === 'waiting';

  // A request that was reviewed elsewhere updates its row when it is opened.
  const { patch } = list;
  const onLoaded = useCallback(
    (decision: Decision) =>
      patch((pages) =>
        withEach(pages, (each) => (each.decision_id === decision.decision_id ? decision : each)),
      ),
    [patch],
  );

  return (
    <div className={styles.inbox} data-fills data-open={id !== undefined || undefined}>
      {/* A phone shows an open review without the list and its heading. */}
      {!is_wide && id !== undefined && <h1 className="visually-hidden">Inbox</h1>}
      <section className={styles.left} aria-label="Requests for review">
        <Header tab={tab} exporting={exporting} />
        <div role="status" className={is_after ? undefined : 'visually-hidden'}>
          {is_after && (
            <AfterReview
              key={done.review.review_id}
              done={done}
              onLabel={(label) => setDone({ ...done, label })}
            />
          )}
        </div>
        <RefusedElsewhere open_id={id} onShow={(decision_id) => void go(decision_id)} />
        {tab === 'waiting' && question === undefined && <Groups agent={agent} />}
        {question !== undefined && (
          <GroupHead
            question_id={question}
            decisions={rows}
            has_more={list.hasNextPage}
            back={pick(kept, ['agent']) as Search}
            onVerdict={(verdict) => setBulk({ verdict, of: 'question' })}
          />
        )}
        <div className={styles.list}>
          {list.isError && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
          {list.isPending && <Loading lines={8} />}
          {list.isSuccess && rows.length === 0 && <NothingHere tab={tab} />}
          <Blocks
            as="ul"
            of={rows}
            kept={place < 0 ? undefined : place}
            rows={(some) =>
              some.map((decision) => (
                <InboxRow
                  key={decision.decision_id}
                  decision={decision}
                  is_current={decision.decision_id === id}
                  is_aside={aside.has(decision.decision_id)}
                  is_selected={selected.has(decision.decision_id)}
                  is_refused={refused.has(decision.decision_id)}
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
            decisions={chosen}
            onVerdict={(verdict) => setBulk({ verdict, of: 'selected' })}
            onClear={clear}
          />
        )}
        {bulk !== null && (
          <BulkDialog
            decisions={bulk.of === 'question' ? rows : chosen}
            review_action={bulk.verdict}
            comment={bulk_comment}
            setComment={setBulkComment}
            question={
              bulk.of === 'question' && question !== undefined ? questionIn(rows, question) : undefined
            }
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
            known={rows[place]}
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
        <Button small kind="quiet" busy={exporting.busy} onClick={() => void exporting.run()}>
          Export CSV
        </Button>
      </div>
      {exporting.error !== null && <ErrorNotice error={exporting.error} />}
      <Tabs label="Reviews">
        {Object.entries(TABS).map(([key, { name }]) => (
          <Link
            key={key}
            to="/reviews"
            search={key === 'waiting' ? {} : { tab: key }}
            activeOptions={{ exact: true, includeSearch: true }}
            aria-current={key === tab ? 'page' : undefined}
          >
            {name}
          </Link>
        ))}
      </Tabs>
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
    .filter(([decision_id]) => decision_id !== open_id)
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

function AfterReview({
  done: { decision, review, label },
  onLabel,
}: {
  done: Done;
  onLabel: (label: Label) => void;
}) {
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
        onDone={onLabel}
      />
    </div>
  );
}

function NothingHere({ tab }: { tab: string }) {
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
