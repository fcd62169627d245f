import type { Decision, Label } from '@purser/sdk';
import { purser } from '../../api/client.ts';
import { invalidate } from '../../api/live.ts';
import { useMay, WHY_NOT } from '../../api/queries.ts';
import { cx } from '../../lib/cx.ts';
import { useAction } from '../../lib/hooks/use-action.ts';
import { words } from '../../lib/words.ts';
import { RecordedAs } from '../Author.tsx';
import { Button } from '../Button.tsx';
import { useKeys } from '../keys/use-keys.ts';
import { ErrorNotice } from '../Notice.tsx';
import styles from './ReviewBox.module.css';

const LABELS = ['PURPOSE_ALIGNED', 'PURPOSE_MISALIGNED', 'PURPOSE_UNCLEAR'] as const;

/** Labels a decision with one click. A new label supersedes the current one. The key `l` applies the suggestion. */
export function LabelBox({
  decision_id,
  label,
  suggested,
  onDone,
}: {
  decision_id: string;
  label: Decision['label'];
  suggested?: Label['label'] | undefined;
  onDone?: (label: Label) => void;
}) {
  const may = useMay('review');
  const action = useAction(async (choice: (typeof LABELS)[number]) => {
    const supersedes = label === null ? {} : { supersedes: label.label_id };
    const made = await purser.decisions.label(decision_id, { label: choice, ...supersedes });
    await invalidate('decision', decision_id);
    onDone?.(made);
  });
  const is_suggesting = may && suggested !== undefined && label === null;
  useKeys({ l: () => suggested !== undefined && void action.run(suggested) }, is_suggesting);
  return (
    <div className={styles.box}>
      <div className={cx(styles.buttons, styles.labels)}>
        {LABELS.map((choice) => (
          <Button
            key={choice}
            small
            why={!may && WHY_NOT.review}
            busy={action.busy}
            shortcut={is_suggesting && choice === suggested ? 'l' : undefined}
            aria-keyshortcuts={is_suggesting && choice === suggested ? 'l' : undefined}
            aria-pressed={label?.label === choice}
            onClick={() => action.run(choice)}
          >
            {words(choice)}
          </Button>
        ))}
      </div>
      {may && <RecordedAs />}
      {action.error !== null && <ErrorNotice error={action.error} title="The label was not recorded." />}
    </div>
  );
}
