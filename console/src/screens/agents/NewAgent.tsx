import type { Agent, NewApiKey } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useExampleCurrency } from '../../api/agent-names.ts';
import { codeOfError, purser } from '../../api/client.ts';
import { invalidate } from '../../api/live.ts';
import { workspaceQuery } from '../../api/queries.ts';
import { Button, buttonClass } from '../../components/Button.tsx';
import { Actions, Dialog } from '../../components/Dialog.tsx';
import { SelectField, TextField } from '../../components/Field.tsx';
import { decisionCurl } from '../../components/FirstSteps.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { CodeBlock } from '../../components/Value.tsx';
import { useForm } from '../../lib/hooks/use-form.ts';
import { words } from '../../lib/words.ts';

interface Created {
  agent: Agent;
  /** Null if no key was requested or its creation failed. */
  key: NewApiKey | null;
  key_error: unknown;
}

/** Dialog that creates an agent and optionally its first key. */
export function NewAgent({ onClose }: { onClose: () => void }) {
  const [made, setMade] = useState<Created | null>(null);
  if (made !== null) return <FirstKey made={made} onClose={onClose} />;
  return <Form onClose={onClose} onMade={setMade} />;
}

function Form({ onClose, onMade }: { onClose: () => void; onMade: (made: Created) => void }) {
  const workspace = useQuery(workspaceQuery).data;
  const [with_key, setWithKey] = useState(true);
  const form = useForm(
    { slug: '', name: '', mode: '' },
    async ({ slug, name, mode }) => {
      const agent = await purser.agents.create({
        slug: slug.trim(),
        ...(name.trim() === '' ? {} : { name: name.trim() }),
        ...(mode === '' ? {} : { mode: mode as 'SHADOW' | 'ENFORCE' }),
      });
      void invalidate('agents');
      let key: NewApiKey | null = null;
      let key_error: unknown = null;
      if (with_key) {
        // The agent exists even if its key cannot be created.
        try {
          key = await purser.apiKeys.create({ name: `${agent.slug} 1`.slice(-64), agent_id: agent.id });
        } catch (error) {
          key_error = error;
        }
      }
      onMade({ agent, key, key_error });
    },
    {
      check: ({ slug }): { slug?: string } =>
        /^[a-z0-9][a-z0-9_-]{0,63}$/.test(slug.trim())
          ? {}
          : {
              slug: 'must use only a-z, 0-9, "_" and "-", begin with a letter or digit, and have at most 64 characters',
            },
    },
  );
  const code = codeOfError(form.error);
  return (
    <Dialog title="New agent" onClose={onClose}>
      <form style={{ display: 'grid', gap: '1rem' }} onSubmit={form.onSubmit} noValidate>
        {code === 'plan_required' || code === 'agent_limit' ? (
          <Notice
            tone="warn"
            title={
              code === 'plan_required'
                ? 'Your plan does not include Enforce.'
                : 'Your plan’s agent limit is reached.'
            }
          >
            {(form.error as Error).message}
          </Notice>
        ) : code === 'agent_exists' ? null : (
          form.error !== null && <ErrorNotice error={form.error} />
        )}
        <TextField
          label="Slug"
          autoFocus
          required
          autoComplete="off"
          spellCheck={false}
          placeholder="infra-bot"
          hint="Identifies the agent in requests and URLs. Cannot be changed later."
          {...form.field('slug')}
          problem={
            form.problemOf('slug') ??
            (code === 'agent_exists' ? 'An agent with this slug already exists' : undefined)
          }
        />
        <TextField label="Name" optional autoComplete="off" {...form.field('name')} />
        <SelectField
          label="Mode"
          hint="Shadow observes and stops nothing. Enforce makes decisions binding."
          {...form.field('mode')}
          options={[
            ['', `Workspace default${workspace === undefined ? '' : ` (${words(workspace.mode)})`}`],
            ['SHADOW', 'Shadow'],
            ['ENFORCE', 'Enforce'],
          ]}
        />
        <label style={{ display: 'flex', gap: '0.5rem', alignItems: 'center' }}>
          <input type="checkbox" checked={with_key} onChange={(event) => setWithKey(event.target.checked)} />
          Also create its first API key
        </label>
        <Actions recorded>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={form.busy}>
            Create agent
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}

function FirstKey({ made: { agent, key, key_error }, onClose }: { made: Created; onClose: () => void }) {
  const currency = useExampleCurrency(agent.slug);
  return (
    <Dialog title={`${agent.name} created`} wide onClose={onClose}>
      {key_error !== null && (
        <ErrorNotice error={key_error} title="The key could not be created. Create one in Keys." />
      )}
      {key !== null && (
        <>
          <Notice tone="warn" title="This key is shown only once.">
            Copy it to the agent’s environment. It cannot be shown again.
          </Notice>
          <CodeBlock label="the key for a .env file" code={`PURSER_API_KEY=${key.key}`} />
        </>
      )}
      <p>
        Without a policy every request is denied. Set the policy first. Then the agent can send requests, for
        example:
      </p>
      <CodeBlock
        label="a first request"
        code={decisionCurl(agent.slug, currency).replace(
          '$PURSER_API_KEY',
          (variable) => key?.key ?? variable,
        )}
      />
      <Actions>
        <Button onClick={onClose}>Close</Button>
        <Link to={`/agents/${agent.slug}/authority`} className={buttonClass('primary')} onClick={onClose}>
          Set policy
        </Link>
      </Actions>
    </Dialog>
  );
}
