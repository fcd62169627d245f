import { useState } from 'react';
import { GO_KEYS } from '../../lib/palette.ts';
import { Dialog } from '../Dialog.tsx';
import { firstFilter } from '../Filters.tsx';
import { Notice } from '../Notice.tsx';
import styles from './KeyHelp.module.css';
import { EVERYWHERE, type KeyRow, keysOf, OF_FILTERS } from './keys-of.ts';
import { areKeysOn } from './use-keys.ts';

const GO: readonly KeyRow[] = GO_KEYS.map(([keys, label]) => [keys.split(' '), label]);

/** Lists the shortcuts of the screen at `path`, of every screen, and of navigation. */
export default function KeyHelp({ path, onClose }: { path: string; onClose: () => void }) {
  const [own] = useState(() => [...keysOf(path), ...(firstFilter() === null ? [] : [OF_FILTERS])]);
  return (
    <Dialog title="Keyboard shortcuts" wide onClose={onClose}>
      {!areKeysOn() && <Notice tone="warn">Single-key shortcuts are off in your account.</Notice>}
      <div className={styles.columns}>
        {own.length > 0 && <Keys title="On this screen" of={own} />}
        <div>
          <Keys title="On every screen" of={EVERYWHERE} />
          <Keys title="Go to" of={GO} />
        </div>
      </div>
    </Dialog>
  );
}

function Keys({ title, of }: { title: string; of: readonly KeyRow[] }) {
  return (
    <section aria-label={title}>
      <h3 className={styles.group}>{title}</h3>
      <dl className={styles.keys}>
        {of.map(([keys, does]) => (
          <div key={`${keys} ${does}`}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
