import { useEffect, useRef } from 'react';
import { meQuery, queryClient, useMe } from './queries.ts';
import { hasDemand } from './session.ts';

/**
 * Reloads the page when another tab signs in as somebody else or switches the workspace. Tabs share the session's cookie, so
 * the old page would show and send data under the wrong identity.
 */
export function useIdentityGuard(): void {
  const me = useMe();
  const identity = `${me.user.id} ${me.workspace.id}`;
  const shown = useRef(identity);
  useEffect(() => {
    const tabs = new BroadcastChannel('purser.identity');
    tabs.postMessage(shown.current);
    tabs.onmessage = ({ data }) => {
      if (data !== shown.current && !hasDemand())
        void queryClient.invalidateQueries({ queryKey: meQuery.queryKey });
    };
    return () => tabs.close();
  }, []);
  useEffect(() => {
    // The sign-in dialog reports another identity itself, so that the page's input is not lost.
    if (identity !== shown.current && !hasDemand()) location.assign('/console/');
  }, [identity]);
}
