import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { purser } from '../../api/client.ts';
import { useIdentityGuard } from '../../api/identity.ts';
import { useLive } from '../../api/live.ts';
import { useMe } from '../../api/queries.ts';
import { screenOfKey } from '../../lib/palette.ts';
import { setTimeZone } from '../../lib/time.ts';
import { words } from '../../lib/words.ts';
import { SelectField } from '../Field.tsx';
import { Icon, type IconName } from '../icons.tsx';
import { isTyping, nameOfKey, useKeys } from '../keys/use-keys.ts';
import { SampleBanner } from '../SampleData.tsx';
import { StopBanner, StopDialog } from '../Stop.tsx';
import { PendingWorkspaces } from './PendingWorkspaces.tsx';
import { Reauthentication } from './Reauthentication.tsx';
import styles from './Shell.module.css';
import { SkipLink } from './SkipLink.tsx';

/** Loads a component library, so only on demand. */
const loadPalette = () => import('./Palette.tsx');
const Palette = lazy(loadPalette);
const loadKeyHelp = () => import('../keys/KeyHelp.tsx');
const KeyHelp = lazy(loadKeyHelp);
/** Reviews are held only after their screens were loaded, so the first screen does not wait for this. */
const HeldReviews = lazy(() => import('../decision/HeldReviews.tsx'));
const NotifyOfRequests = lazy(() => import('../notifications/NotifyOfRequests.tsx'));
/** Delay before the palette and the help are preloaded, so that no key press is lost. Milliseconds. */
const IDLE_MS = 4_000;

/** Time limit for the second key after `g`. Milliseconds. */
const GO_MS = 1_500;

const NAVIGATION: readonly (readonly (readonly [to: string, name: string, icon: IconName])[])[] = [
  [
    ['/reviews', 'Inbox', 'inbox'],
    ['/', 'Overview', 'overview'],
    ['/decisions', 'Decisions', 'decisions'],
    ['/agents', 'Agents', 'agents'],
    ['/budgets', 'Budgets', 'budgets'],
    ['/allowances', 'Allowances', 'allowances'],
    ['/report', 'Shadow report', 'report'],
    ['/history', 'History', 'history'],
    ['/coverage', 'Coverage', 'coverage'],
  ],
  [
    ['/notifications', 'Notifications', 'notifications'],
    ['/webhooks', 'Webhooks', 'webhooks'],
    ['/ledger', 'Ledger', 'ledger'],
    ['/audit', 'Audit', 'audit'],
  ],
  [
    ['/keys', 'Keys', 'keys'],
    ['/team', 'Team', 'team'],
    ['/review-policy', 'Review policy', 'policy'],
    ['/settings', 'Settings', 'settings'],
  ],
];

const STALE_MESSAGES = {
  lost: 'The service cannot be reached. This page may be out of date. Retrying…',
  away: 'No activity for ten minutes. This page may be out of date. Move the mouse or press a key to update it.',
};

/** Layout of every screen after sign-in. */
export function Shell() {
  const me = useMe();
  // Before the screens below draw their times.
  setTimeZone(me.workspace.time_zone);
  const { pending_reviews, stale_reason } = useLive();
  useIdentityGuard();
  const [is_open, setOpen] = useState(false);
  const path = useRouterState({ select: (state) => state.location.pathname });
  const main = useRef<HTMLElement>(null);
  const is_first = useRef(true);
  const [is_finding, setFinding] = useState(false);
  const find = () => setFinding(true);
  const [is_stopping, setStopping] = useState(false);
  const [is_helping, setHelping] = useState(false);
  const help = () => setHelping(true);
  useEffect(() => {
    const timer = setTimeout(() => {
      for (const load of [loadPalette, loadKeyHelp]) void load().catch(() => {});
    }, IDLE_MS);
    return () => clearTimeout(timer);
  }, []);
  useKeys({ 'Ctrl+k': find, '/': find, '?': help });
  useGoKeys();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new screen closes the menu and takes the focus
  useEffect(() => {
    setOpen(false);
    if (is_first.current) is_first.current = false;
    else main.current?.focus({ preventScroll: true });
  }, [path]);

  return (
    <div className={styles.shell}>
      <SkipLink to="main">Skip to content</SkipLink>
      <header className={styles.side} data-open={is_open || undefined}>
        <div className={styles.brand}>
          <img src="/console/icon.svg" alt="" />
          <div>
            <strong>Purser</strong>
            <span title={me.workspace.name}>{me.workspace.name}</span>
          </div>
        </div>
        <button
          type="button"
          className={styles.menuButton}
          aria-expanded={is_open}
          onClick={() => setOpen(!is_open)}
        >
          Menu
        </button>
        <button type="button" className={styles.find} aria-keyshortcuts="Control+K" onClick={find}>
          <span>Go to or find…</span>
          <span aria-hidden="true">Ctrl K</span>
        </button>
        <WorkspaceSwitch />
        <nav className={styles.nav} aria-label="Main">
          {NAVIGATION.map((group) => (
            <ul key={group[0]?.[0]}>
              {group.map(([to, name, icon]) => (
                <li key={to}>
                  <Link to={to} activeOptions={{ exact: to === '/', includeSearch: false }}>
                    <Icon name={icon} />
                    {name}
                    {to === '/reviews' && pending_reviews > 0 && (
                      <span className={styles.count}>
                        {pending_reviews}
                        <span className="visually-hidden"> pending</span>
                      </span>
                    )}
                  </Link>
                </li>
              ))}
            </ul>
          ))}
          <button type="button" className={styles.keys} aria-keyshortcuts="?" onClick={help}>
            <span>Keyboard shortcuts</span>
            <span aria-hidden="true">?</span>
          </button>
          <Link to="/me" className={styles.me}>
            <strong>
              <span className="visually-hidden">Your account: </span>
              {me.user.name}
            </strong>
            <span>
              {words(me.role)} · {me.user.email}
            </span>
          </Link>
        </nav>
      </header>
      <main id="main" ref={main} className={styles.main} tabIndex={-1}>
        <SampleBanner />
        <StopBanner />
        <div role="status">
          {stale_reason !== null && <p className={styles.old}>{STALE_MESSAGES[stale_reason]}</p>}
        </div>
        <PendingWorkspaces me={me} />
        <Outlet key={me.workspace.time_zone} />
      </main>
      {is_finding && (
        <Suspense fallback={null}>
          <Palette onClose={() => setFinding(false)} onStop={() => setStopping(true)} />
        </Suspense>
      )}
      {is_stopping && <StopDialog onClose={() => setStopping(false)} />}
      <Suspense fallback={null}>
        {is_helping && <KeyHelp path={path} onClose={() => setHelping(false)} />}
      </Suspense>
      <Suspense fallback={null}>
        <HeldReviews />
      </Suspense>
      <Suspense fallback={null}>
        <NotifyOfRequests />
      </Suspense>
      <Reauthentication />
    </div>
  );
}

/** `g` and a second key go to a screen. */
function useGoKeys(): void {
  const navigate = useNavigate();
  const asked_at = useRef(Number.NEGATIVE_INFINITY);
  useKeys({ g: ({ timeStamp }) => (asked_at.current = timeStamp) });
  useEffect(() => {
    // Runs before the screen's own shortcuts, which use some of the same letters.
    const onKey = (event: KeyboardEvent) => {
      if (event.timeStamp - asked_at.current > GO_MS) return;
      asked_at.current = Number.NEGATIVE_INFINITY;
      const to = screenOfKey(nameOfKey(event));
      // A field or dialog opened since then takes the key.
      const is_elsewhere = isTyping(event.target) || document.querySelector('dialog[open]') !== null;
      if (to === undefined || is_elsewhere || event.altKey) return;
      event.preventDefault();
      event.stopPropagation();
      void navigate({ to });
    };
    document.addEventListener('keydown', onKey, { capture: true });
    return () => document.removeEventListener('keydown', onKey, { capture: true });
  }, [navigate]);
}

function WorkspaceSwitch() {
  const me = useMe();
  const [is_switching, setSwitching] = useState(false);
  const joined = me.workspaces.filter((each) => each.status === 'active');
  if (joined.length < 2) return null;
  return (
    <div className={styles.switch}>
      <SelectField
        label="Workspace"
        hideLabel
        value={me.workspace.id}
        disabled={is_switching}
        options={joined.map((each) => [each.id, each.name])}
        onValue={async (workspace_id) => {
          setSwitching(true);
          // Everything on the page belongs to the old workspace, so it is loaded again.
          await purser.me.switchWorkspace({ workspace_id }).finally(() => location.assign('/console/'));
        }}
      />
    </div>
  );
}
