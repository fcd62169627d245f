import type { Decision, Label } from '@purser/sdk';
import { purser } from '../../api/client.ts';
import { makeOld } from '../../api/live.ts';
import { useMay, WHY_NOT } from '../../api/queries.ts';
import { cx } from '../../lib/cx.ts';
import { useAction } from '../../lib/use-action.ts';
import { words } from '../../lib/words.ts';
import { Button } from '../Button.tsx';
import { ErrorNotice } from '../Notice.tsx';
import styles from './ReviewBox.module.css';

const LABELS = ['PURPOSE_ALIGNED', 'PURPOSE_MISALIGNED', 'PURPOSE_UNCLEAR'] as const;

/** One press labels a spend; the label that stands is corrected by the new one. */
export function LabelBox({
  decision_id,
  label,
  onDone,
}: {
  decision_id: string;
  label: Decision['label'];
  onDone?: (label: Label) => void;
}) {
  const may = useMay('review');
  const action = useAction(async (choice: (typeof LABELS)[number]) => {
    const supersedes = label === null ? {} : { supersedes: label.label_id };
    const made = await purser.decisions.label(decision_id, { label: choice, ...supersedes });
    await makeOld('decision', decision_id);
    onDone?.(made);
  });
  return (
    <div className={styles.box}>
      <div className={cx(styles.buttons, styles.labels)}>
        {LABELS.map((choice) => (
          <Button
            key={choice}
            small
            why={!may && WHY_NOT.review}
            busy={action.busy}
            aria-pressed={label?.label === choice}
            onClick={() => action.run(choice)}
          >
            {words(choice)}
          </Button>
        ))}
      </div>
      {action.error !== null && <ErrorNotice error={action.error} title="The label was not recorded." />}
    </div>
  );
}
