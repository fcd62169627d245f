import { useState } from 'react';
import { switchBrowserNotifications, useBrowserNotifications } from '../../api/browser-notifications.ts';
import { useMay, useMe } from '../../api/queries.ts';
import { useAction } from '../../lib/hooks/use-action.ts';
import { Button } from '../Button.tsx';
import styles from './notifications.module.css';

/** Switches the notifications of this browser. Only its button asks the browser for permission. */
export function InThisBrowser() {
  const { user } = useMe();
  const may = useMay('review');
  const state = useBrowserNotifications();
  const [has_failed, setFailed] = useState(false);
  const switching = useAction(async (on: boolean) =>
    setFailed(!(await switchBrowserNotifications(user.id, on))),
  );
  if (!may) return null;
  const is_on = state === 'on';
  return (
    <div className={styles.browser}>
      <div>
        <strong>In this browser</strong>
        <p role="status">
          {state === 'unsupported' || has_failed
            ? 'This browser shows no notifications here.'
            : state === 'blocked'
              ? 'Your browser blocks notifications of this site. Permit them in its settings for this site.'
              : is_on
                ? 'On. While Purser is open in a tab, you are notified of each new request that you may allow.'
                : 'Off. Your browser asks for your permission when you turn them on.'}
        </p>
      </div>
      {(is_on || state === 'off') && (
        <Button small busy={switching.busy} onClick={() => void switching.run(!is_on)}>
          {is_on ? 'Turn off in this browser' : 'Turn on in this browser'}
        </Button>
      )}
    </div>
  );
}
