import type { Authority, AuthorityVersion } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { purser } from '../../api/client.ts';
import { useDraftSamples } from '../../api/samples.ts';
import { AgentTabs } from '../../components/AgentTabs.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { AgentName } from '../../components/names/AgentName.tsx';
import { Card, Loading, Page, Tabs } from '../../components/Page.tsx';
import { RestoredChanges } from '../../components/save/SaveBar.tsx';
import { summaryOf } from '../../lib/authority/summary.ts';
import { pick } from '../../lib/search.ts';
import styles from './Authority.module.css';
import { AuthorityForm } from './AuthorityForm.tsx';
import { Diff } from './Diff.tsx';
import { Reading } from './Reading.tsx';
import { SaveForm } from './SaveForm.tsx';
import { SimulationCard } from './SimulationCard.tsx';
import { TryRequest } from './TryRequest.tsx';
import { useEditor } from './use-editor.ts';
import { useSimulation } from './use-simulation.ts';
import { Versions } from './Versions.tsx';

/** The current version. Null if none is set, which the agent shows without a failing request. */
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
      title="Policy"
      width="wide"
      above={
        <Link to={`/agents/${slug}`}>
          ← <AgentName of={{ slug }} />
        </Link>
      }
      lead="What the agent may spend, and on what. Every save creates a new version; earlier versions stay on record."
    >
      <AgentTabs slug={slug} at="authority" />
      {current.isError && <ErrorNotice error={current.error} onRetry={() => void current.refetch()} />}
      {current.isPending && <Loading lines={10} />}
      {current.data !== undefined && <Editor key={slug} slug={slug} current={current.data} />}
    </Page>
  );
}

function Editor({ slug, current }: { slug: string; current: AuthorityVersion | null }) {
  const { version: shown } = pick(useSearch({ strict: false }), ['version']);
  const editor = useEditor(slug, current);
  const { may, base, json, authority, changes } = editor;
  const simulation = useSimulation(slug, authority, may);
  const samples = useDraftSamples(authority);
  return (
    <div className={styles.columns}>
      <div className={styles.form}>
        {editor.is_restored && <RestoredChanges onDiscard={editor.discard} />}
        <Tabs label="Editor">
          <button type="button" aria-pressed={json === null} onClick={editor.openForm}>
            Form
          </button>
          <button type="button" aria-pressed={json !== null} onClick={editor.openJson}>
            JSON
          </button>
        </Tabs>
        <AuthorityForm
          compared={simulation.query.data?.attention}
          draft={editor.draft}
          json={json}
          problems={editor.problems}
          may={may}
          edit={editor.edit}
          setJson={editor.setJson}
        />
        <SaveForm slug={slug} current={current} editor={editor} />
      </div>
      <div className={styles.beside}>
        {may && <TryRequest authority={authority} samples={samples} />}
        {may && <SimulationCard simulation={simulation} currency={authority?.currency ?? 'EUR'} />}
        <Summary authority={authority} />
        <Reading authority={authority} onCorrect={may ? editor.correct : undefined} />
        {base !== null && changes.length > 0 && (
          <Card title={`Changes from version ${base.version}`}>
            <Diff changes={changes} />
          </Card>
        )}
        <Versions
          slug={slug}
          current={current}
          written={changes.length > 0 ? authority : null}
          shown={shown}
          may={may}
          onStart={editor.startFrom}
        />
      </div>
    </div>
  );
}

/** The draft in sentences. */
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
