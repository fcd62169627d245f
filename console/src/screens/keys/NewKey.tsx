import type { NewApiKey } from '@purser/sdk';
import { useState } from 'react';
import { useAgentNames } from '../../api/agent-names.ts';
import { purser } from '../../api/client.ts';
import { invalidate } from '../../api/live.ts';
import { useMe } from '../../api/queries.ts';
import { useAgentSample } from '../../api/samples.ts';
import { Button } from '../../components/Button.tsx';
import { Connect } from '../../components/connect/Connect.tsx';
import { Actions, Dialog } from '../../components/Dialog.tsx';
import { SelectField, TextField } from '../../components/Field.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { ShownOnce } from '../../components/ShownOnce.tsx';
import { CodeBlock } from '../../components/Value.tsx';
import { useForm } from '../../lib/hooks/use-form.ts';
import { DEFAULT_LIFE, KINDS, LIVES } from './kinds.ts';

/** Dialog that creates a key and shows its value once. `agent` is preselected. */
export function NewKey({ agent = '', onClose }: { agent?: string; onClose: () => void }) {
  const [made, setMade] = useState<NewApiKey | null>(null);
  return (
    <Dialog title={made === null ? 'New key' : `Key “${made.name}”`} onClose={onClose}>
      {made === null ? (
        <KeyForm agent={agent} onMade={setMade} onClose={onClose} />
      ) : (
        <MadeKey made={made} onClose={onClose} />
      )}
    </Dialog>
  );
}

function KeyForm({
  agent,
  onMade,
  onClose,
}: {
  agent: string;
  onMade: (made: NewApiKey) => void;
  onClose: () => void;
}) {
  const me = useMe();
  const { agents } = useAgentNames();
  const form = useForm(
    { name: '', kind: 'agent', agent, principal_id: me.principal_id, life: DEFAULT_LIFE },
    async ({ name, kind, agent: agent_id, principal_id, life }) => {
      const scopes = KINDS.find((each) => each.kind === kind)?.scopes ?? null;
      const made = await purser.apiKeys.create({
        name,
        ...(scopes === null ? { agent_id } : { scopes }),
        ...(scopes === null || principal_id.trim() === '' ? {} : { principal_id: principal_id.trim() }),
        ...(life === '' ? {} : { expires_in_seconds: Number(life) }),
      });
      void invalidate('keys');
      onMade(made);
    },
    {
      fields: { agent_id: 'agent', expires_in_seconds: 'life' },
      check: (values) => ({
        ...(values.name.trim() === '' ? { name: 'must say what the key is for' } : {}),
        ...(values.kind === 'agent' && values.agent === ''
          ? { agent: 'must be the agent that the key is for' }
          : {}),
      }),
    },
  );
  const kind = KINDS.find((each) => each.kind === form.values.kind);
  const usable = agents.filter((each) => each.status !== 'revoked');
  return (
    <form onSubmit={form.onSubmit} noValidate style={{ display: 'grid', gap: '0.9rem' }}>
      {form.error !== null && <ErrorNotice error={form.error} />}
      <TextField
        label="Name"
        autoFocus
        required
        maxLength={64}
        hint="Where it’s used. This helps when it is revoked later."
        {...form.field('name')}
      />
      <SelectField
        label="Kind"
        hint={kind?.hint}
        {...form.field('kind')}
        options={KINDS.map((each) => [each.kind, each.name])}
      />
      {kind?.scopes === null ? (
        <SelectField
          label="Agent"
          {...form.field('agent')}
          hint={usable.length === 0 ? 'No agents yet. Create one under Agents first.' : undefined}
          options={[
            ['', 'Choose an agent'],
            ...usable.map((each) => [each.slug, `${each.name} (${each.slug})`] as const),
          ]}
        />
      ) : (
        <TextField
          label="Attributed to"
          optional
          autoComplete="off"
          spellCheck={false}
          hint="The person behind this key, such as user:ada; you by default. Nobody can review requests of their own keys."
          {...form.field('principal_id')}
        />
      )}
      <SelectField
        label="Expires"
        {...form.field('life')}
        options={LIVES.map(([value, text]) => [value, value === '' ? text : `In ${text.toLowerCase()}`])}
      />
      <Actions recorded>
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="primary" type="submit" busy={form.busy}>
          Create key
        </Button>
      </Actions>
    </form>
  );
}

function MadeKey({ made, onClose }: { made: NewApiKey; onClose: () => void }) {
  const { agents, byId } = useAgentNames();
  const is_bound = made.agent_id !== null;
  const named = is_bound
    ? byId.get(made.agent_id as string)
    : agents.find((each) => each.status === 'active');
  const sample = useAgentSample(named?.slug);
  const can_request = made.scopes.includes('authorize');
  return (
    <>
      <ShownOnce title="Copy this key now." label="the key" secret={made.key}>
        <CodeBlock label="a line for .env" code={`PURSER_API_KEY=${made.key}`} />
        {can_request
          ? sample !== undefined && (
              <Connect secret={made.key} agent={is_bound ? undefined : named?.slug} samples={[sample]} />
            )
          : made.kind !== 'payment_adapter' && (
              <CodeBlock
                label="a request"
                code={`curl -s ${location.origin}/v1/decisions?limit=5 -H "x-api-key: $PURSER_API_KEY"`}
              />
            )}
        {made.kind === 'payment_adapter' && (
          <Notice>Give it to the program that pays. See “Writing a payment adapter” in the guides.</Notice>
        )}
      </ShownOnce>
      <Actions>
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </Actions>
    </>
  );
}
