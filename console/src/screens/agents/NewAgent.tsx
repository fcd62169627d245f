import type { Agent, NewApiKey } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useExampleCurrency } from '../../api/agent-names.ts';
import { codeOfError, purser } from '../../api/client.ts';
import { makeOld } from '../../api/live.ts';
import { workspaceQuery } from '../../api/queries.ts';
import { Button, buttonClass } from '../../components/Button.tsx';
import { Actions, Dialog } from '../../components/Dialog.tsx';
import { SelectField, TextField } from '../../components/Field.tsx';
import { decisionCurl } from '../../components/FirstSteps.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { CodeBlock } from '../../components/Value.tsx';
import { useForm } from '../../lib/hooks/use-form.ts';

interface Made {
  agent: Agent;
  /** Null: none was wanted, or making it failed. */
  key: NewApiKey | null;
  key_error: unknown;
}

/** Makes an agent and, if wanted, its first key, in one go. */
export function NewAgent({ onClose }: { onClose: () => void }) {
  const [made, setMade] = useState<Made | null>(null);
  if (made !== null) return <FirstKey made={made} onClose={onClose} />;
  return <Form onClose={onClose} onMade={setMade} />;
}

function Form({ onClose, onMade }: { onClose: () => void; onMade: (made: Made) => void }) {
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
      void makeOld('agents');
      let key: NewApiKey | null = null;
      let key_error: unknown = null;
      if (with_key) {
        // The agent is there whatever becomes of its key.
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
          : { slug: 'must be 1 to 64 of a-z, 0-9, "_" and "-", and begin with a letter or digit' },
    },
  );
  const code = codeOfError(form.error);
  return (
    <Dialog title="New agent" onClose={onClose}>
      <form style={{ display: 'grid', gap: '1rem' }} onSubmit={form.onSubmit} noValidate>
        {code === 'plan_required' || code === 'agent_limit' ? (
          <Notice
            tone="warn"
            title={code === 'plan_required' ? 'Your plan only watches.' : 'Your plan is full.'}
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
          hint="The name in requests and addresses. It cannot be changed."
          {...form.field('slug')}
          problem={
            form.problemOf('slug') ??
            (code === 'agent_exists' ? 'An agent with this slug exists already' : undefined)
          }
        />
        <TextField label="Name" optional autoComplete="off" {...form.field('name')} />
        <SelectField
          label="Mode"
          hint="SHADOW watches and stops nothing. ENFORCE binds."
          {...form.field('mode')}
          options={[
            ['', `The workspace’s${workspace === undefined ? '' : ` (${workspace.mode})`}`],
            ['SHADOW', 'SHADOW'],
            ['ENFORCE', 'ENFORCE'],
          ]}
        />
        <label style={{ display: 'flex', gap: '0.5rem', alignItems: 'center' }}>
          <input type="checkbox" checked={with_key} onChange={(event) => setWithKey(event.target.checked)} />
          Make its first key too
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

function FirstKey({ made: { agent, key, key_error }, onClose }: { made: Made; onClose: () => void }) {
  const currency = useExampleCurrency(agent.slug);
  return (
    <Dialog title={`${agent.name} is there`} wide onClose={onClose}>
      {key_error !== null && (
        <ErrorNotice error={key_error} title="Its key could not be made. Make one in Keys." />
      )}
      {key !== null && (
        <>
          <Notice tone="warn" title="This key is shown only now.">
            Copy it to where the agent runs. Nobody can show it again.
          </Notice>
          <CodeBlock label="the key for a .env file" code={`PURSER_API_KEY=${key.key}`} />
        </>
      )}
      <p>
        Without an authority every spend is denied. Say what it may spend and what for; then it can ask, for
        example like this:
      </p>
      <CodeBlock
        label="a first spend"
        code={decisionCurl(agent.slug, currency).replace(
          '$PURSER_API_KEY',
          (variable) => key?.key ?? variable,
        )}
      />
      <Actions>
        <Button onClick={onClose}>Close</Button>
        <Link to={`/agents/${agent.slug}/authority`} className={buttonClass('primary')} onClick={onClose}>
          Set its authority
        </Link>
      </Actions>
    </Dialog>
  );
}
