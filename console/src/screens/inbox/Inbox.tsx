import type { Decision, DecisionListQuery, Label, RecordedReview } from '@purser/sdk';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { purser, sentenceOf } from '../../api/client.ts';
import { pageLimit, useCaughtUp } from '../../api/lists.ts';
import { askForChanges, makeOld } from '../../api/live.ts';
import { useMay, useMe } from '../../api/queries.ts';
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
import { downloadStreamed } from '../../lib/download.ts';
import { useAction } from '../../lib/hooks/use-action.ts';
import { useMedia } from '../../lib/hooks/use-media.ts';
import { withEach, withFirstPage, withRows } from '../../lib/pages.ts';
import { labelOfReview } from '../../lib/review-reasons.ts';
import { pick, type Search, stringifySearch } from '../../lib/search.ts';
import { visible } from '../../lib/visible.ts';
import { words } from '../../lib/words.ts';
import { BulkBar, type Verdict } from './BulkBar.tsx';
import styles from './Inbox.module.css';
import { InboxRow } from './InboxRow.tsx';
import { Pane } from './Pane.tsx';

/** What each tab asks for. What waits is ordered by its deadline, the rest by time. */
const TABS: Record<string, { name: string; query: Record<string, string>; of_me?: true }> = {
  waiting: { name: 'Waiting', query: { review_state: 'PENDING', order: 'expires' } },
  mine: { name: 'Done by me', query: {}, of_me: true },
  reviewed: { name: 'Reviewed', query: { review_state: 'ALLOWED,DENIED' } },
  expired: { name: 'Ran out', query: { review_state: 'EXPIRED' } },
};

const idOf = ({ decision_id }: Decision) => decision_id;

/** The order of the service: by deadline, those without one last. */
function isDueBefore(a: Decision, b: Decision): boolean {
  const place = ({ reservation, decision_id }: Decision) => `${reservation.expires_at ?? '~'} ${decision_id}`;
  return place(a) < place(b);
}

/** The last review made here: it can be labelled without going back. */
interface Done {
  decision: Decision;
  review: RecordedReview;
  label: Label | null;
}

export default function Inbox() {
  useTitle('Inbox');
  const search = useSearch({ strict: false });
  const { tab: search_tab, id, agent } = pick(search, ['tab', 'id', 'agent']);
  const tab = search_tab ?? 'waiting';
  const navigate = useNavigate();
  const me = useMe();
  const { query, of_me } = TABS[tab] ?? (TABS.waiting as (typeof TABS)[string]);
  const filters: Search = {
    ...query,
    ...(of_me === true ? { reviewed_by: me.principal_id } : {}),
    ...(agent === undefined ? {} : { agent }),
  };
  const exporting = useAction(() =>
    downloadStreamed(`/v1/decisions/export${stringifySearch({ format: 'csv', ...filters })}`),
  );
  const fetchPage = (cursor?: string, order: string | null = query.order ?? null) =>
    purser.decisions.list({
      ...filters,
      order: order ?? undefined,
      limit: pageLimit(cursor),
      cursor,
    } as DecisionListQuery);
  const list = useCaughtUp<Decision>(
    ['decisions', 'inbox', tab, agent],
    (cursor) => fetchPage(cursor),
    async () => {
      // What waits stands by its deadline, so what came last may stand anywhere.
      const [first, newest] = await Promise.all([
        fetchPage(),
        query.order === undefined ? null : fetchPage(undefined, null),
      ]);
      return (pages) => withRows(withFirstPage(pages, first, idOf), newest?.data ?? [], idOf, isDueBefore);
    },
  );
  const [aside, setAside] = useState<ReadonlySet<string>>(new Set());
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [done, setDone] = useState<Done | null>(null);
  const [bulk, setBulk] = useState<Verdict | null>(null);
  const may = useMay('review');
  const refused = useRefusedReviews();
  const anchor = useRef<string | null>(null);

  const rows = useMemo(
    () => [
      ...list.rows.filter((each) => !aside.has(each.decision_id)),
      ...list.rows.filter((each) => aside.has(each.decision_id)),
    ],
    [list.rows, aside],
  );
  useExpiry(list.rows);

  const open_id = useRef(id);
  open_id.current = id;
  const place = rows.findIndex((each) => each.decision_id === id);
  const go = (to: string | undefined) =>
    navigate({
      to: '/reviews',
      search: { ...pick(search, ['tab', 'agent']), ...(to === undefined ? {} : { id: to }) },
      replace: id !== undefined && to !== undefined,
    });
  // What is open may have left the list; the next one then stands where it stood.
  const last_place = useRef(0);
  if (place >= 0) last_place.current = place;
  const step = (by: number) => {
    const from = place >= 0 ? place : last_place.current - (by > 0 ? 1 : 0);
    if (from + by >= rows.length && list.hasNextPage) void list.fetchNextPage();
    const next = rows[Math.min(rows.length - 1, Math.max(0, from + by))];
    if (next !== undefined) void go(next.decision_id);
  };
  const toggle = (which: string, with_range: boolean) => {
    const from = rows.findIndex((each) => each.decision_id === anchor.current);
    const to = rows.findIndex((each) => each.decision_id === which);
    setSelected((before) => {
      const after = new Set(before);
      if (with_range && from >= 0) {
        for (const each of rows.slice(Math.min(from, to), Math.max(from, to) + 1))
          after.add(each.decision_id);
      } else if (!after.delete(which)) after.add(which);
      return after;
    });
    anchor.current = which;
  };

  // One function for all rows and all times, so that a row is rendered anew only when it changed.
  const toggle_now = useRef(toggle);
  toggle_now.current = toggle;
  const onToggle = useCallback(
    (which: string, with_range: boolean) => toggle_now.current(which, with_range),
    [],
  );

  // On a wide screen something is open from the start, so that the first key already decides.
  const first = rows[0]?.decision_id;
  const is_wide = useMedia('(min-width: 60rem)');
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when nothing is open
  useEffect(() => {
    if (id === undefined && first !== undefined && is_wide) void go(first);
  }, [id, first, is_wide]);

  useKeys({
    j: () => step(1),
    k: () => step(-1),
    o: () => id !== undefined && void navigate({ to: `/decisions/${id}` }),
    x: () => id !== undefined && tab === 'waiting' && toggle(id, false),
    'Shift+X': () => id !== undefined && tab === 'waiting' && toggle(id, true),
    z: () => {
      if (id === undefined) return false;
      const next = aside.has(id) ? undefined : (rows[place + 1] ?? rows[place - 1]);
      setAside((before) => {
        const after = new Set(before);
        if (!after.delete(id)) after.add(id);
        return after;
      });
      if (next !== undefined) void go(next.decision_id);
    },
    'Shift+A': () => selected.size > 0 && may && setBulk('ALLOW'),
    'Shift+D': () => selected.size > 0 && may && setBulk('DENY'),
  });

  const takeOut = (ids: ReadonlySet<string>) =>
    list.patch((pages) => withEach(pages, (each) => (ids.has(each.decision_id) ? null : each)));
  const onReviewed = (decision: Decision, review: RecordedReview) => {
    setDone({ decision, review, label: decision.label });
    setSelected((before) => new Set([...before].filter((each) => each !== decision.decision_id)));
    const next = place < 0 ? rows[last_place.current] : (rows[place + 1] ?? rows[place - 1]);
    if (tab === 'waiting') takeOut(new Set([decision.decision_id]));
    void makeOld('decision', decision.decision_id);
    void makeOld('decisions');
    askForChanges();
    // Whoever went on while the answer was on its way stays where they are.
    if (open_id.current !== decision.decision_id) return;
    void go(next?.decision_id === decision.decision_id ? undefined : next?.decision_id);
  };

  const is_after = done !== null && tab === 'waiting';

  // What was reviewed elsewhere says so in its place as soon as it is opened.
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
      <section className={styles.left} aria-label="Spends that were sent to a person">
        <header className={styles.head}>
          <div className={styles.titleRow}>
            <h1>Inbox</h1>
            <Button small kind="quiet" busy={exporting.busy} onClick={() => void exporting.run()}>
              Export CSV
            </Button>
          </div>
          {exporting.error !== null && <ErrorNotice error={exporting.error} />}
          <Tabs label="Which reviews">
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
        <div role="status" className={is_after ? undefined : 'visually-hidden'}>
          {is_after && (
            <AfterReview
              key={done.review.review_id}
              done={done}
              onLabel={(label) => setDone({ ...done, label })}
            />
          )}
        </div>
        {/* Whoever had gone on before the answer came is told where they are now. */}
        {[...refused]
          .filter(([decision_id]) => decision_id !== id)
          .map(([decision_id, { decision, error }]) => (
            <Notice
              key={decision_id}
              tone="bad"
              title={`Your review of ${visible(decision.action.merchant)} was not recorded.`}
              actions={
                <Button small onClick={() => void go(decision_id)}>
                  Show it
                </Button>
              }
            >
              {refusalOf(error)?.title ?? sentenceOf(error)}
            </Notice>
          ))}
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
                  tab={search_tab}
                  agent={agent}
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
            decisions={rows.filter((each) => selected.has(each.decision_id))}
            verdict={bulk}
            onVerdict={setBulk}
            onClear={() => setSelected(new Set())}
            onReviewed={(ids) => {
              for (const each of ids) keepRefusal(each, null);
              takeOut(ids);
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
        {label === null ? 'Label it too?' : `Labelled: ${words(label.label)}.`}
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
    return <Empty title="None ran out">Every review in ENFORCE was made in its time.</Empty>;
  }
  if (tab === 'mine') {
    return <Empty title="Nothing reviewed by you yet">What you allow and deny is kept here.</Empty>;
  }
  if (tab === 'reviewed') {
    return <Empty title="Nothing reviewed yet">What people allow and deny is kept here.</Empty>;
  }
  return (
    <Empty title="Nothing waits for you">
      <p>
        Spends that are over a review threshold, or that do not seem to serve an agent’s purpose, come here by
        themselves.
      </p>
    </Empty>
  );
}

/** Reviews that run out say nothing themselves: the list is fetched again at the moment when the next one does. */
function useExpiry(rows: readonly Decision[]): void {
  const soonest_ms = Math.min(
    ...rows
      .filter((each) => each.review_state === 'PENDING' && each.reservation.expires_at !== null)
      .map((each) => Date.parse(each.reservation.expires_at as string)),
  );
  useEffect(() => {
    if (!Number.isFinite(soonest_ms)) return;
    const wait_ms = Math.max(1_000, soonest_ms - Date.now() + 500);
    if (wait_ms > 2_000_000_000) return;
    const timer = setTimeout(() => {
      void makeOld('decisions');
      void makeOld('decision');
    }, wait_ms);
    return () => clearTimeout(timer);
  }, [soonest_ms]);
}
