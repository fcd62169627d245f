import { type Authority, type AuthorityVersion, InvalidRequestError } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { codeOfError, problemOf, purser } from '../../api/client.ts';
import { makeOld } from '../../api/live.ts';
import { queryClient, useMay, useMe, WHY_NOT } from '../../api/queries.ts';
import { AgentTabs } from '../../components/AgentTabs.tsx';
import { Button } from '../../components/Button.tsx';
import { TextField } from '../../components/Field.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { Card, Loading, Page, Tabs } from '../../components/Page.tsx';
import { RecordedAs } from '../../components/Who.tsx';
import { diffOf } from '../../lib/authority/diff.ts';
import {
  authorityOf,
  type Draft,
  draftOf,
  EMPTY_DRAFT,
  fieldOf,
  type Problems,
} from '../../lib/authority/draft.ts';
import { summaryOf } from '../../lib/authority/summary.ts';
import { readUnsaved, unsavedKey } from '../../lib/authority/unsaved.ts';
import { useAction } from '../../lib/hooks/use-action.ts';
import { pick } from '../../lib/search.ts';
import styles from './Authority.module.css';
import { AuthorityForm } from './AuthorityForm.tsx';
import { Diff } from './Diff.tsx';
import type { Edit } from './fields.ts';
import { Reading } from './Reading.tsx';
import { Simulated } from './Simulated.tsx';
import { Versions } from './Versions.tsx';

/** The version in force; null while none is set, which the agent tells without a request that must fail. */
function useCurrent(slug: string) {
  return useQuery({
    queryKey: ['authority', slug],
    queryFn: async (): Promise<AuthorityVersion | null> => {
      const agent = await purser.agents.retrieve(slug);
      return agent.authority_version === null ? null : await purser.agents.authority.retrieve(slug);
    },
  });
}

export default function AuthorityEditor() {
  const { slug = '' } = useParams({ strict: false }) as { slug?: string };
  const current = useCurrent(slug);
  return (
    <Page
      title="Authority"
      width="wide"
      above={<Link to={`/agents/${slug}`}>← {slug}</Link>}
      lead="What the agent may spend, and what for. Every save makes a new version; earlier ones stay on record."
    >
      <AgentTabs slug={slug} at="authority" />
      {current.isError && <ErrorNotice error={current.error} onRetry={() => void current.refetch()} />}
      {current.isPending && <Loading lines={10} />}
      {current.data !== undefined && <Editor key={slug} slug={slug} current={current.data} />}
    </Page>
  );
}

function Editor({ slug, current }: { slug: string; current: AuthorityVersion | null }) {
  const may = useMay('admin');
  const { version: shown } = pick(useSearch({ strict: false }), ['version']);
  const me = useMe();
  const place = unsavedKey(me.user.id, me.workspace.id, slug);
  const [found, setFound] = useState(() => readUnsaved(sessionStorage.getItem(place)));
  const fresh = { base: current, draft: current === null ? EMPTY_DRAFT : draftOf(current.authority) };
  const begun = found ?? { ...fresh, json: null, note: '' };
  /** What the draft began from: it says what the form has no field for, and what a save must still find. */
  const [base, setBase] = useState(begun.base);
  const [draft, setDraft] = useState<Draft>(begun.draft);
  /** The text of the JSON tab while it is open; null in the form. */
  const [json, setJson] = useState(begun.json);
  const [note, setNote] = useState(begun.note);
  const [refused, setRefused] = useState<Problems>({});
  const [saved, setSaved] = useState<AuthorityVersion | null>(null);
  const [touched, setTouched] = useState(found !== null);

  const read = useMemo(
    () => (json === null ? authorityOf(draft, base?.authority ?? null) : parsed(json)),
    [draft, json, base],
  );
  const { authority } = read;
  /** A form that nobody has begun to fill in has nothing wrong with it yet. */
  const is_new = base === null && json === null && draft.objective === '' && !touched;
  const problems: Problems = { ...(is_new ? null : read.problems), ...refused };
  const changes = useMemo(
    () => (authority === null ? [] : diffOf(base?.authority ?? null, authority)),
    [authority, base],
  );
  const is_unsaved = authority === null ? touched || json !== null : changes.length > 0;
  useEffect(() => {
    if (is_unsaved) sessionStorage.setItem(place, JSON.stringify({ base, draft, json, note }));
    else sessionStorage.removeItem(place);
  }, [is_unsaved, place, base, draft, json, note]);
  // What is kept goes with the tab, and nobody can tell a tab that is closed from one that is read anew.
  useEffect(() => {
    if (!is_unsaved) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [is_unsaved]);
  const is_stale = (current?.version ?? 0) > (base?.version ?? 0);
  const next = (current?.version ?? 0) + 1;

  const edit: Edit = (name, value) => {
    setDraft((before) => ({ ...before, [name]: value }));
    setTouched(true);
    setRefused((before) =>
      Object.fromEntries(Object.entries(before).filter(([place]) => place.split('[')[0] !== name)),
    );
    setSaved(null);
  };
  const startFrom = (from: Authority) => {
    setDraft(draftOf(from));
    setJson((before) => (before === null ? null : JSON.stringify(from, null, 2)));
    setRefused({});
  };
  const save = useAction(async () => {
    if (authority === null) return;
    setRefused({});
    const body = note.trim() === '' ? authority : { ...authority, note: note.trim() };
    try {
      const made = await purser.agents.authority.set(slug, body, { ifMatch: base?.hash });
      queryClient.setQueryData(['authority', slug], made);
      void queryClient.invalidateQueries({ queryKey: ['authority', slug, 'versions'] });
      void makeOld('agents');
      setBase(made);
      setSaved(made);
      setFound(null);
      setNote('');
    } catch (error) {
      const wrong = error instanceof InvalidRequestError ? fieldOf(error.field) : undefined;
      if (wrong === undefined || !(error instanceof InvalidRequestError)) throw error;
      const { field, line } = wrong;
      setRefused({ [field]: `${line === null ? '' : `line ${line} `}${problemOf(error)}` });
    }
  });

  const why =
    (!may && WHY_NOT.admin) ||
    (is_new && 'Say first what the agent is there for.') ||
    (authority === null && 'Mend what is marked first.') ||
    (changes.length === 0 && base !== null && 'Nothing has changed.');
  return (
    <div className={styles.columns}>
      <div className={styles.form}>
        {found !== null && is_unsaved && (
          <Notice
            title="What you had not saved is here again."
            actions={
              <Button
                small
                onClick={() => {
                  setFound(null);
                  setBase(fresh.base);
                  setDraft(fresh.draft);
                  setJson(null);
                  setNote('');
                  setTouched(false);
                  setRefused({});
                }}
              >
                Discard it
              </Button>
            }
          >
            It was kept in this tab, and is gone when the tab is closed.
          </Notice>
        )}
        <Tabs label="How to write it">
          <button
            type="button"
            aria-pressed={json === null}
            onClick={() => {
              if (json !== null && authority !== null) setDraft(draftOf(authority));
              setJson(null);
            }}
          >
            Form
          </button>
          <button
            type="button"
            aria-pressed={json !== null}
            onClick={() => setJson(JSON.stringify(authority ?? base?.authority ?? {}, null, 2))}
          >
            JSON
          </button>
        </Tabs>
        <AuthorityForm
          draft={draft}
          json={json}
          problems={problems}
          may={may}
          edit={edit}
          setJson={setJson}
        />
        <form
          className={styles.save}
          onSubmit={(event) => {
            event.preventDefault();
            void save.run();
          }}
        >
          {is_stale && (
            <Notice
              tone="warn"
              title={`Version ${current?.version} was saved meanwhile.`}
              actions={
                <Button
                  small
                  onClick={() => {
                    setBase(current);
                    save.clear();
                  }}
                >
                  Go on from version {current?.version}, with what I typed
                </Button>
              }
            >
              Somebody else changed this authority. What you typed is kept; look at the differences before you
              save it over theirs.
            </Notice>
          )}
          {save.error !== null &&
            (codeOfError(save.error) === 'authority_changed' ? (
              <Notice
                tone="bad"
                title="Somebody saved another version meanwhile."
                actions={
                  <Button
                    small
                    onClick={() => void queryClient.invalidateQueries({ queryKey: ['authority', slug] })}
                  >
                    Look at it
                  </Button>
                }
              >
                Yours was not saved, and nothing you typed is lost.
              </Notice>
            ) : (
              <ErrorNotice error={save.error} title="It was not saved." />
            ))}
          {saved !== null && (
            <Notice tone="good">
              <span role="status">
                Saved as version {saved.version}. It holds from the agent’s next request on.
              </span>{' '}
              {saved.version === 1 && <Link to={`/agents/${slug}`}>Next: see it ask for a spend</Link>}
            </Notice>
          )}
          <div className={styles.saveRow}>
            <TextField
              label="Note"
              hideLabel
              placeholder="Why (kept with the version)"
              maxLength={2000}
              disabled={!may}
              value={note}
              onValue={setNote}
            />
            <Button kind="primary" type="submit" why={why} busy={save.busy}>
              Save as version {next}
            </Button>
          </div>
          {typeof why === 'string' && <p className={styles.status}>{why}</p>}
          {may && <RecordedAs />}
        </form>
      </div>
      <div className={styles.beside}>
        {may && <Simulated slug={slug} authority={authority} />}
        <Summary authority={authority} />
        <Reading authority={authority} />
        {base !== null && changes.length > 0 && (
          <Card title={`What differs from version ${base.version}`}>
            <Diff changes={changes} />
          </Card>
        )}
        <Versions
          slug={slug}
          current={current}
          written={changes.length > 0 ? authority : null}
          shown={shown}
          may={may}
          onStart={startFrom}
        />
      </div>
    </div>
  );
}

/** What the draft says, in sentences. */
function Summary({ authority }: { authority: Authority | null }) {
  if (authority === null) return null;
  return (
    <Card title="In plain words">
      <ul className={styles.sentences}>
        {summaryOf(authority).map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </Card>
  );
}

/** The authority that the text of the JSON tab says. */
function parsed(text: string): { authority: Authority | null; problems: Problems | null } {
  try {
    const value: unknown = JSON.parse(text);
    const { purpose, currency } = (value ?? {}) as { purpose?: { objective?: unknown }; currency?: unknown };
    if (typeof purpose?.objective === 'string' && typeof currency === 'string')
      return { authority: value as Authority, problems: null };
    return {
      authority: null,
      problems: { objective: 'It needs at least "purpose.objective" and "currency"' },
    };
  } catch (error) {
    return { authority: null, problems: { objective: `This is no JSON: ${(error as Error).message}` } };
  }
}
