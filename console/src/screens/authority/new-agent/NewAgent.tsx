import templates from 'virtual:templates';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { codeOfError } from '../../../api/client.ts';
import { invalidate } from '../../../api/live.ts';
import { useMay, WHY_NOT, workspaceQuery } from '../../../api/queries.ts';
import { useDraftSamples } from '../../../api/samples.ts';
import { RecordedAs } from '../../../components/Author.tsx';
import { Button } from '../../../components/Button.tsx';
import { SelectField, TextField } from '../../../components/Field.tsx';
import { ErrorNotice, Notice } from '../../../components/Notice.tsx';
import { Card, Page } from '../../../components/Page.tsx';
import saveBar from '../../../components/save/SaveBar.module.css';
import {
  authorityOf,
  type Draft,
  draftOf,
  EMPTY_DRAFT,
  type Problems,
} from '../../../lib/authority/draft.ts';
import { summaryOf } from '../../../lib/authority/summary.ts';
import { useAction } from '../../../lib/hooks/use-action.ts';
import { isKind, type Template } from '../../../lib/samples/templates.ts';
import { words } from '../../../lib/words.ts';
import styles from '../Authority.module.css';
import { LimitFields, MoreRules, ObjectiveField } from '../AuthorityForm.tsx';
import { TryRequest } from '../TryRequest.tsx';
import { type Created, create, refusalOf } from './create-agent.ts';
import { FirstRequest } from './FirstRequest.tsx';
import own from './NewAgent.module.css';

const SLUG = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const SLUG_PROBLEM =
  'must use only a-z, 0-9, "_" and "-", begin with a letter or digit, and have at most 64 characters';

/** A slug made of a name. */
const slugOf = (name: string) =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 64);

/** One page from a name to the first decision: what the agent is for, its limits, requests to try, and its key. */
export default function NewAgent() {
  const [made, setMade] = useState<Created | null>(null);
  return (
    <Page
      title="New agent"
      width="wide"
      above={<Link to="/agents">← Agents</Link>}
      lead={
        made === null
          ? 'Say what it is for and what it may spend. Then try requests before any agent sends one.'
          : undefined
      }
    >
      {made === null ? <Form onMade={setMade} /> : <FirstRequest made={made} />}
    </Page>
  );
}

/** The state of the form: the agent's name and slug, and the draft of its policy. */
function useNewAgent(onMade: (made: Created) => void) {
  const [texts, setTexts] = useState({ name: '', slug: '', mode: '' });
  const [has_own_slug, setOwnSlug] = useState(false);
  const [draft, setDraft] = useState<Draft>(EMPTY_DRAFT);
  const [template, setTemplate] = useState<string | null>(null);
  const [refused, setRefused] = useState<Problems>({});
  const read = authorityOf(draft, null);
  /** Without an objective the agent is created without a policy. */
  const has_policy = draft.objective.trim() !== '';
  const problems: Problems = { ...(has_policy ? read.problems : null), ...refused };
  const authority = has_policy ? read.authority : null;
  const slug = has_own_slug ? texts.slug : slugOf(texts.name);
  const creating = useAction(async () => {
    if (!SLUG.test(slug.trim())) return setRefused({ slug: SLUG_PROBLEM });
    if (has_policy && read.authority === null) return;
    setRefused({});
    const created = await create({ ...texts, slug: slug.trim() }, authority).catch((error: unknown) => {
      const found = refusalOf(error);
      if (found === null) throw error;
      return found;
    });
    if ('refused' in created) return setRefused(created.refused);
    void invalidate('agents');
    onMade(created);
  });
  return {
    texts: { ...texts, slug },
    draft,
    template,
    problems,
    authority,
    creating,
    setText: (name: keyof typeof texts) => (value: string) => {
      if (name === 'slug') setOwnSlug(value !== '');
      setTexts((before) => ({ ...before, [name]: value }));
      setRefused({});
    },
    edit: <Name extends keyof Draft>(name: Name, value: Draft[Name]) => {
      setDraft((before) => ({ ...before, [name]: value }));
      setRefused({});
    },
    start: (from: Template) => {
      setTemplate(from.id);
      setDraft(draftOf(from.authority));
      setRefused({});
    },
  };
}

function Form({ onMade }: { onMade: (made: Created) => void }) {
  const may = useMay('admin');
  const workspace = useQuery(workspaceQuery).data;
  const { texts, draft, template, problems, authority, creating, setText, edit, start } = useNewAgent(onMade);
  const samples = useDraftSamples(authority);
  const fields = { draft, problems, may, edit };
  const has_problems = Object.keys(problems).length > 0;
  return (
    <div className={styles.columns}>
      <form
        className={styles.form}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void creating.run();
        }}
      >
        <Card title="Agent">
          <div className={styles.amounts}>
            <TextField
              label="Name"
              autoComplete="off"
              placeholder="Infrastructure bot"
              disabled={!may}
              value={texts.name}
              problem={problems.name}
              onValue={setText('name')}
            />
            <TextField
              label="Slug"
              required
              autoComplete="off"
              spellCheck={false}
              placeholder="infrastructure-bot"
              hint="Its name in requests. Permanent."
              disabled={!may}
              value={texts.slug}
              problem={problems.slug}
              onValue={setText('slug')}
            />
          </div>
        </Card>
        <Card title="Purpose">
          <Templates chosen={template} may={may} onChoose={start} />
          <ObjectiveField {...fields} />
        </Card>
        <Card title="Limits">
          <LimitFields {...fields} />
        </Card>
        <details className={own.more}>
          <summary>More rules</summary>
          <div>
            <Card title="Mode">
              <SelectField
                label="Mode"
                hideLabel
                value={texts.mode}
                disabled={!may}
                onValue={setText('mode')}
                options={[
                  ['', `Workspace default${workspace === undefined ? '' : ` (${words(workspace.mode)})`}`],
                  ['SHADOW', 'Shadow: observes and stops nothing'],
                  ['ENFORCE', 'Enforce: decisions are binding'],
                ]}
              />
            </Card>
            <MoreRules {...fields} />
          </div>
        </details>
        <div className={saveBar.bar}>
          <NotCreated error={creating.error} />
          {authority === null && !has_problems && (
            <p className={styles.status}>
              Without an objective it gets no policy, and every request is denied.
            </p>
          )}
          <Button
            kind="primary"
            type="submit"
            busy={creating.busy}
            why={
              !may
                ? WHY_NOT.admin
                : draft.objective !== '' && authority === null && 'Fix the marked fields first.'
            }
          >
            Create agent
          </Button>
          {may && <RecordedAs />}
        </div>
      </form>
      <div className={styles.beside}>
        <TryRequest authority={authority} samples={samples} />
        {authority !== null && (
          <Card title="In plain words">
            <ul className={styles.sentences}>
              {summaryOf(authority).map((sentence) => (
                <li key={sentence}>{sentence}</li>
              ))}
            </ul>
          </Card>
        )}
      </div>
    </div>
  );
}

/** Policies to begin with: by kind of agent, and those of the guide that show one rule each. */
function Templates({
  chosen,
  may,
  onChoose,
}: {
  chosen: string | null;
  may: boolean;
  onChoose: (template: Template) => void;
}) {
  const others = templates.filter((each) => !isKind(each));
  return (
    <>
      <ul className={own.templates} aria-label="Templates">
        {templates.filter(isKind).map((each) => (
          <li key={each.id}>
            <button
              type="button"
              disabled={!may}
              aria-pressed={each.id === chosen}
              onClick={() => onChoose(each)}
            >
              {each.name}
            </button>
          </li>
        ))}
      </ul>
      <SelectField
        label="Other templates"
        hideLabel
        disabled={!may}
        value={others.some(({ id }) => id === chosen) ? (chosen as string) : ''}
        onValue={(id) => {
          const found = others.find((each) => each.id === id);
          if (found !== undefined) onChoose(found);
        }}
        options={[['', 'Or a template by its rule…'], ...others.map(({ id, name }) => [id, name] as const)]}
      />
    </>
  );
}

function NotCreated({ error }: { error: unknown }) {
  if (error === null) return null;
  const code = codeOfError(error);
  if (code !== 'plan_required' && code !== 'agent_limit')
    return <ErrorNotice error={error} title="The agent was not created." />;
  return (
    <Notice
      tone="warn"
      title={
        code === 'plan_required'
          ? 'Your plan does not include Enforce.'
          : 'Your plan’s agent limit is reached.'
      }
    >
      {(error as Error).message}
    </Notice>
  );
}
