import type { AuthorityVersion } from '@purser/sdk';
import { Link } from '@tanstack/react-router';
import { codeOfError } from '../../api/client.ts';
import { queryClient } from '../../api/queries.ts';
import { RecordedAs } from '../../components/Author.tsx';
import { Button } from '../../components/Button.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import saveBar from '../../components/save/SaveBar.module.css';
import { NewerVersion, SaveVersion } from '../../components/save/SaveBar.tsx';
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
      className={saveBar.bar}
      onSubmit={(event) => {
        event.preventDefault();
        void save.run();
      }}
    >
      {editor.is_stale && (
        <NewerVersion version={current?.version} of="this policy" onRebase={editor.rebase} />
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
      <SaveVersion
        version={(current?.version ?? 0) + 1}
        note={editor.note}
        onNote={editor.setNote}
        may={may}
        why={why}
        busy={save.busy}
      />
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
