import type { ReactNode } from 'react';
import { Button } from '../Button.tsx';
import { TextField } from '../Field.tsx';
import { Notice } from '../Notice.tsx';
import styles from './SaveBar.module.css';

/** Announces that somebody else saved a version in the meantime, and offers to continue from it. */
export function NewerVersion({
  version,
  of,
  onRebase,
}: {
  version: number | undefined;
  /** The subject of these versions: "this policy". */
  of: string;
  onRebase: () => void;
}) {
  return (
    <Notice
      tone="warn"
      title={`Version ${version} was saved in the meantime.`}
      actions={
        <Button small onClick={onRebase}>
          Continue from version {version} with my changes
        </Button>
      }
    >
      Somebody else changed {of}. Your changes are kept. Check the differences before you save over theirs.
    </Notice>
  );
}

/** Announces that changes which the tab kept are in the form again, and offers to discard them. */
export function RestoredChanges({ onDiscard }: { onDiscard: () => void }) {
  return (
    <Notice
      title="Your unsaved changes were restored."
      actions={
        <Button small onClick={onDiscard}>
          Discard changes
        </Button>
      }
    >
      They are stored in this tab and are lost when you close it.
    </Notice>
  );
}

/** The row that saves a form as a version, with a note. `children`: further buttons. */
export function SaveVersion({
  version,
  note,
  onNote,
  may,
  why,
  busy,
  children,
}: {
  /** The number that the version will have. */
  version: number;
  note: string;
  onNote: (note: string) => void;
  may: boolean;
  /** The reason why the form cannot be saved. */
  why: string | false;
  busy: boolean;
  children?: ReactNode;
}) {
  return (
    <div className={styles.row}>
      <TextField
        label="Note"
        hideLabel
        placeholder="Reason for the change"
        maxLength={2000}
        disabled={!may}
        value={note}
        onValue={onNote}
      />
      {children}
      <Button kind="primary" type="submit" why={why} busy={busy}>
        Save as version {version}
      </Button>
    </div>
  );
}
