import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useLive } from '../api/live.ts';
import { people } from '../api/people.ts';
import { useMe } from '../api/queries.ts';
import { words } from '../lib/words.ts';
import { SelectField } from './Field.tsx';
import { Icon, type IconName } from './icons.tsx';
import { Reauthentication } from './Reauthentication.tsx';
import styles from './Shell.module.css';

const NAVIGATION: readonly (readonly (readonly [to: string, name: string, icon: IconName])[])[] = [
  [
    ['/reviews', 'Inbox', 'inbox'],
    ['/', 'Overview', 'overview'],
    ['/decisions', 'Decisions', 'decisions'],
    ['/agents', 'Agents', 'agents'],
    ['/report', 'Shadow report', 'report'],
  ],
  [
    ['/webhooks', 'Webhooks', 'webhooks'],
    ['/ledger', 'Ledger', 'ledger'],
    ['/audit', 'Audit', 'audit'],
  ],
  [
    ['/keys', 'Keys', 'keys'],
    ['/team', 'Team', 'team'],
    ['/settings', 'Settings', 'settings'],
  ],
];

/** What surrounds every screen of somebody who is signed in. */
export function Shell() {
  const me = useMe();
  const { pending_reviews } = useLive();
  const [is_open, setOpen] = useState(false);
  const path = useRouterState({ select: (state) => state.location.pathname });
  const main = useRef<HTMLElement>(null);
  const is_first = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another screen closes the menu and takes the focus
  useEffect(() => {
    setOpen(false);
    if (is_first.current) is_first.current = false;
    else main.current?.focus({ preventScroll: true });
  }, [path]);

  return (
    <div className={styles.shell}>
      <a href="#main" className={styles.skip}>
        Skip to the content
      </a>
      <div className={styles.side} data-open={is_open || undefined}>
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
        {me.workspaces.length > 1 && <WorkspaceSwitch />}
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
                        <span className="visually-hidden"> waiting</span>
                      </span>
                    )}
                  </Link>
                </li>
              ))}
            </ul>
          ))}
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
      </div>
      <main id="main" ref={main} className={styles.main} tabIndex={-1}>
        <Outlet />
      </main>
      <Reauthentication />
    </div>
  );
}

function WorkspaceSwitch() {
  const me = useMe();
  const [is_switching, setSwitching] = useState(false);
  return (
    <div className={styles.switch}>
      <SelectField
        label="Workspace"
        hideLabel
        value={me.workspace.id}
        disabled={is_switching}
        options={me.workspaces.map((each) => [each.id, each.name])}
        onValue={async (workspace_id) => {
          setSwitching(true);
          // Everything on the page is the old workspace's: it begins anew.
          await people.switchWorkspace(workspace_id).finally(() => location.assign('/console/'));
        }}
      />
    </div>
  );
}
