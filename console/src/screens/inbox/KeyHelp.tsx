import { Dialog } from '../../components/Dialog.tsx';
import { Notice } from '../../components/Notice.tsx';
import { areKeysOn } from '../../lib/use-keys.ts';
import styles from './Inbox.module.css';

const KEYS: readonly (readonly [keys: readonly string[], does: string])[] = [
  [['j', 'k'], 'Next, previous'],
  [['a'], 'Allow'],
  [['d'], 'Deny'],
  [['1', '…', '9'], 'Choose the reason'],
  [['c'], 'Write a comment'],
  [['Ctrl', 'Enter'], 'Confirm and go on with the next'],
  [['Esc'], 'Leave without a word'],
  [['l'], 'Label the one just reviewed'],
  [['x'], 'Select'],
  [['Shift', 'X'], 'Select up to here'],
  [['z'], 'Put aside, for this visit'],
  [['o'], 'Open the whole decision'],
  [['?'], 'This list'],
];

/** The keys of the inbox. */
export function KeyHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      {!areKeysOn() && <Notice tone="warn">Single keys are switched off in your account.</Notice>}
      <dl className={styles.keys}>
        {KEYS.map(([keys, does]) => (
          <div key={does} style={{ display: 'contents' }}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
