import { useEffect, useRef } from 'react';
import { meQuery, queryClient, useMe } from './queries.ts';
import { isDemanded } from './session.ts';

/**
 * Tabs share the session's cookie: whoever signs in, or goes to another workspace, in one of them does so in all. A page of
 * somebody else, or of another workspace, begins anew, so that it shows nothing and sends nothing in the wrong name.
 */
export function useOneIdentity(): void {
  const me = useMe();
  const identity = `${me.user.id} ${me.workspace.id}`;
  const shown = useRef(identity);
  useEffect(() => {
    const tabs = new BroadcastChannel('purser.identity');
    tabs.postMessage(shown.current);
    tabs.onmessage = ({ data }) => {
      if (data !== shown.current && !isDemanded())
        void queryClient.invalidateQueries({ queryKey: meQuery.queryKey });
    };
    return () => tabs.close();
  }, []);
  useEffect(() => {
    // The dialog that asks who it is tells itself that it is somebody else, and nothing on the page is lost.
    if (identity !== shown.current && !isDemanded()) location.assign('/console/');
  }, [identity]);
}
