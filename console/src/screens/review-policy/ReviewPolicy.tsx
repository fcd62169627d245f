import type { ReviewPolicyVersion } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useMay, WHY_NOT } from '../../api/queries.ts';
import { RecordedAs } from '../../components/Author.tsx';
import { Badge } from '../../components/Badge.tsx';
import { Button } from '../../components/Button.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { Card, Loading, Page } from '../../components/Page.tsx';
import { Away } from '../../components/reviews/Away.tsx';
import saveBar from '../../components/save/SaveBar.module.css';
import { NewerVersion, RestoredChanges, SaveVersion } from '../../components/save/SaveBar.tsx';
import type { Search } from '../../lib/search.ts';
import type { Choice } from './NamesField.tsx';
import { PolicyForm } from './PolicyForm.tsx';
import styles from './ReviewPolicy.module.css';
import { type PolicyEditor, policyQuery, usePolicy, useReviewers } from './use-policy.ts';
import { Difference, Sentences, Versions } from './Versions.tsx';

export default function ReviewPolicy() {
  const query = useQuery(policyQuery);
  const { data } = query;
  return (
    <Page
      title="Review policy"
      width="wide"
      badges={data !== undefined && data.version > 0 && <Badge>Version {data.version}</Badge>}
      lead="Who may allow large requests, and how many people must."
    >
      {query.isError && data === undefined && (
        <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />
      )}
      {query.isPending && <Loading lines={8} />}
      {data !== undefined && <Policy current={data} />}
    </Page>
  );
}

function Policy({ current }: { current: ReviewPolicyVersion }) {
  const may = useMay('admin');
  const people = useReviewers();
  const editor = usePolicy(current);
  const { version } = useSearch({ strict: false }) as Search;
  const nameOf = (principal_id: string) => shortName(people, principal_id);
  return (
    <div className={styles.columns}>
      <form
        className={styles.form}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void editor.save.run();
        }}
      >
        {editor.is_restored && <RestoredChanges onDiscard={editor.discard} />}
        <PolicyForm
          draft={editor.draft}
          problems={editor.problems}
          people={people}
          may={may}
          onDraft={editor.edit}
        />
        <Save editor={editor} current={current} may={may} />
      </form>
      <div className={styles.beside}>
        <Card title="In force">
          <Sentences policy={current.policy} nameOf={nameOf} />
          <p className={styles.soft}>
            One denial, by anyone who may review, is final. A request that is already pending keeps the policy
            that it began with.
          </p>
        </Card>
        {editor.is_changed && editor.is_readable && (
          <Card title="Your changes">
            <Difference from={editor.base.policy} to={editor.policy} nameOf={nameOf} />
          </Card>
        )}
        <Versions current={current} shown={version} may={may} nameOf={nameOf} onStart={editor.startFrom} />
        <Away />
      </div>
    </div>
  );
}

/** The name of a person; with the principal where others have the same name. */
function shortName(people: readonly Choice[], principal_id: string): string {
  const found = people.find(({ value }) => value === principal_id);
  if (found === undefined) return principal_id;
  const is_unique = people.filter(({ name }) => name === found.name).length === 1;
  return is_unique ? found.name : found.text;
}

/** Saves the form as the next version, with a note. Announces conflicts with versions that others saved. */
function Save({
  editor,
  current,
  may,
}: {
  editor: PolicyEditor;
  current: ReviewPolicyVersion;
  may: boolean;
}) {
  const { save, saved, is_changed, is_wrong } = editor;
  const why = !may
    ? WHY_NOT.admin
    : editor.is_stale
      ? 'Check the newer version first.'
      : !is_changed && 'No changes.';
  return (
    <div className={saveBar.bar}>
      {editor.is_stale && (
        <NewerVersion version={current.version} of="the review policy" onRebase={editor.rebase} />
      )}
      {save.error !== null && !editor.is_conflict && (
        <ErrorNotice error={save.error} title="The review policy was not saved." />
      )}
      {is_wrong && (
        <Notice tone="bad" title="The review policy was not saved.">
          Fix the highlighted fields first.
        </Notice>
      )}
      {saved !== null && (
        <Notice tone="good">
          <span role="status">Saved as version {saved.version}. It applies from the next request.</span>
        </Notice>
      )}
      {editor.needs_signature && is_changed && may && (
        <p className={styles.soft}>
          This policy has signed tiers, or replaces one that has. Your signing key signs the change.
        </p>
      )}
      <SaveVersion
        version={current.version + 1}
        note={editor.note}
        onNote={editor.setNote}
        may={may}
        why={why}
        busy={save.busy}
      >
        <Button onClick={editor.discard} disabled={!may || !is_changed}>
          Discard
        </Button>
      </SaveVersion>
      {may ? <RecordedAs /> : <p className={styles.soft}>{WHY_NOT.admin}</p>}
    </div>
  );
}
