import type { AuthorityVersion } from '@purser/sdk';
import { Link } from '@tanstack/react-router';
import { codeOfError } from '../../api/client.ts';
import { queryClient } from '../../api/queries.ts';
import { RecordedAs } from '../../components/Author.tsx';
import { Button } from '../../components/Button.tsx';
import { TextField } from '../../components/Field.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import styles from './Authority.module.css';
import type { Editor } from './use-editor.ts';

/** Saves the draft as the next version, with a note. Announces conflicts with versions that others saved. */
export function SaveForm({
  slug,
  current,
  editor,
}: {
  slug: string;
  current: AuthorityVersion | null;
  editor: Editor;
}) {
  const { save, saved, why, may } = editor;
  return (
    <form
      className={styles.save}
      onSubmit={(event) => {
        event.preventDefault();
        void save.run();
      }}
    >
      {editor.is_stale && (
        <Notice
          tone="warn"
          title={`Version ${current?.version} was saved in the meantime.`}
          actions={
            <Button small onClick={editor.rebase}>
              Continue from version {current?.version} with my changes
            </Button>
          }
        >
          Somebody else changed this policy. Your changes are kept. Check the differences before you save over
          theirs.
        </Notice>
      )}
      {save.error !== null && <NotSaved slug={slug} error={save.error} />}
      {saved !== null && (
        <Notice tone="good">
          <span role="status">
            Saved as version {saved.version}. It applies from the agent’s next request.
          </span>{' '}
          {saved.version === 1 && <Link to={`/agents/${slug}`}>Next: send a first request</Link>}
        </Notice>
      )}
      <div className={styles.saveRow}>
        <TextField
          label="Note"
          hideLabel
          placeholder="Reason for the change"
          maxLength={2000}
          disabled={!may}
          value={editor.note}
          onValue={editor.setNote}
        />
        <Button kind="primary" type="submit" why={why} busy={save.busy}>
          Save as version {(current?.version ?? 0) + 1}
        </Button>
      </div>
      {typeof why === 'string' && <p className={styles.status}>{why}</p>}
      {may && <RecordedAs />}
    </form>
  );
}

function NotSaved({ slug, error }: { slug: string; error: unknown }) {
  if (codeOfError(error) !== 'authority_changed')
    return <ErrorNotice error={error} title="The policy was not saved." />;
  return (
    <Notice
      tone="bad"
      title="Somebody else saved a new version."
      actions={
        <Button small onClick={() => void queryClient.invalidateQueries({ queryKey: ['authority', slug] })}>
          Show it
        </Button>
      }
    >
      Your version was not saved. Your changes are kept.
    </Notice>
  );
}
