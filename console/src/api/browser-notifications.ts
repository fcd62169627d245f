import { useNavigate } from '@tanstack/react-router';
import { useEffect, useSyncExternalStore } from 'react';
import { MAX_SINGLE, notificationsOf, type Seen, withSeen } from '../lib/reviews/browser-notifications.ts';
import { BACKGROUND, purser } from './client.ts';
import { useMay, useMe } from './queries.ts';

/** How often an open tab looks for new requests, and at most after failures. Milliseconds. */
const LOOK_MS = 15_000;
const MAX_BACK_OFF_MS = 300_000;

const keyOf = (user_id: string) => `purser-browser-notifications ${user_id}`;
const listeners = new Set<() => void>();
const notifyListeners = () => {
  for (const each of listeners) each();
};

/** `blocked`: only the browser's own settings can permit notifications again. */
export type BrowserNotifications = 'unsupported' | 'blocked' | 'off' | 'on';

function stateOf(user_id: string): BrowserNotifications {
  if (!('Notification' in window) || !window.isSecureContext) return 'unsupported';
  if (Notification.permission === 'denied') return 'blocked';
  const is_on = Notification.permission === 'granted' && localStorage.getItem(keyOf(user_id)) === 'on';
  return is_on ? 'on' : 'off';
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  // Another tab may have switched them.
  window.addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener('storage', listener);
  };
}

/** Whether this browser notifies the person. */
export function useBrowserNotifications(): BrowserNotifications {
  const { user } = useMe();
  return useSyncExternalStore(subscribe, () => stateOf(user.id));
}

/**
 * Switches notifications in this browser. Only a press may call it: turning on asks the browser for permission and shows a
 * first notification. Returns false where the browser shows none.
 */
export async function switchBrowserNotifications(user_id: string, on: boolean): Promise<boolean> {
  try {
    if (!on) localStorage.removeItem(keyOf(user_id));
    else if ((await Notification.requestPermission()) === 'granted') {
      // Browsers of phones have no such notifications, and say so only here.
      new Notification('Notifications are on', { body: 'Purser', tag: 'purser-on' });
      localStorage.setItem(keyOf(user_id), 'on');
    }
    return true;
  } catch {
    return false;
  } finally {
    notifyListeners();
  }
}

/**
 * Notifies the person of new requests while a tab is open and they look elsewhere. It does not keep the session going: an
 * idle session ends, and the notifications with it.
 */
export function useNotifyOfRequests(): void {
  const { user, workspace } = useMe();
  const may = useMay('review');
  const is_on = useBrowserNotifications() === 'on';
  const navigate = useNavigate();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another person or workspace begins again
  useEffect(() => {
    if (!is_on || !may) return;
    const open = (decision_id: string | null) => {
      window.focus();
      void navigate({ to: '/reviews', search: decision_id === null ? {} : { id: decision_id } });
    };
    return watch(open);
  }, [is_on, may, user.id, workspace.id]);
}

/** Looks for new requests until the returned function is called. Requests that are pending at the start are not new. */
function watch(open: (decision_id: string | null) => void): () => void {
  const stop = new AbortController();
  let seen: Seen | null = null;
  let failures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  async function look(): Promise<void> {
    try {
      const query = { sort: 'newest', limit: MAX_SINGLE * 10 } as const;
      const { data } = await purser.inbox.retrieve(query, { ...BACKGROUND, signal: stop.signal });
      failures = 0;
      const is_elsewhere = document.hidden || !document.hasFocus();
      if (seen !== null && is_elsewhere)
        for (const { tag, title, body, decision_id } of notificationsOf(data, seen)) {
          const shown = new Notification(title, { body, tag, icon: '/console/icon.svg' });
          shown.onclick = () => {
            open(decision_id);
            shown.close();
          };
        }
      seen = withSeen(data, seen);
    } catch {
      failures += 1;
    }
    if (!stop.signal.aborted)
      timer = setTimeout(() => void look(), Math.min(LOOK_MS * 2 ** failures, MAX_BACK_OFF_MS));
  }
  void look();
  return () => {
    stop.abort();
    clearTimeout(timer);
  };
}
