import type { Instrument } from '@purser/sdk';
import { useState } from 'react';
import { purser } from '../../api/client.ts';
import { useAgentChoices, useInstruments } from '../../api/history.ts';
import { invalidate } from '../../api/live.ts';
import { useMay, WHY_NOT } from '../../api/queries.ts';
import { Button } from '../../components/Button.tsx';
import { Actions, Dialog } from '../../components/Dialog.tsx';
import { SelectField, TextField } from '../../components/Field.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { AgentName } from '../../components/names/AgentName.tsx';
import { Card, Empty, Loading } from '../../components/Page.tsx';
import { type Column, Table } from '../../components/Table.tsx';
import { useForm } from '../../lib/hooks/use-form.ts';
import { formatCount } from '../../lib/money.ts';
import { visible } from '../../lib/visible.ts';

const COLUMNS: readonly Column<Instrument>[] = [
  { name: 'Instrument', heading: true, wrap: true, cell: (each) => each.instrument },
  { name: 'Agent', cell: ({ agent }) => (agent === null ? 'Nobody’s' : <AgentName of={agent} />) },
  { name: 'Lines', number: true, cell: (each) => formatCount(each.lines) },
];

/** The cards and other instruments, with whose they are. */
export function Cards() {
  const query = useInstruments();
  const may = useMay('admin');
  const [assigning, setAssigning] = useState<string | null>(null);
  if (query.isError && query.data === undefined)
    return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  if (query.data === undefined) return <Loading lines={4} />;
  const why = !may && WHY_NOT.admin;
  return (
    <>
      <Card
        title="Cards and other instruments"
        flush={query.data.length > 0}
        aside={
          <Button small why={why} onClick={() => setAssigning('')}>
            Assign another
          </Button>
        }
      >
        {query.data.length === 0 ? (
          <Empty title="No instruments yet">
            <p>They appear with their first line. You can assign a card before that.</p>
          </Empty>
        ) : (
          <Table
            label="Instruments"
            rows={query.data}
            keyOf={(each) => each.instrument}
            columns={[
              ...COLUMNS,
              {
                name: 'Actions',
                hideName: true,
                cell: ({ instrument }) => (
                  <Button
                    small
                    aria-label={`Assign ${instrument}`}
                    why={why}
                    onClick={() => setAssigning(instrument)}
                  >
                    Assign
                  </Button>
                ),
              },
            ]}
          />
        )}
      </Card>
      {assigning !== null && <Assign instrument={assigning} onClose={() => setAssigning(null)} />}
    </>
  );
}

function Assign({ instrument, onClose }: { instrument: string; onClose: () => void }) {
  const agents = useAgentChoices();
  const form = useForm(
    { instrument, agent: '' },
    async (values) => {
      await purser.instruments.assign(values.instrument.trim(), {
        agent: values.agent === '' ? null : values.agent,
      });
      void invalidate('instruments');
      onClose();
    },
    { check: (values) => (values.instrument.trim() === '' ? { instrument: 'is required' } : {}) },
  );
  const choices = [
    ['', 'Nobody'] as const,
    ...(agents.data ?? []).map(({ slug, name }) => [slug, visible(name)] as const),
  ];
  return (
    <Dialog title="Assign an instrument" onClose={onClose}>
      <form onSubmit={form.onSubmit} noValidate style={{ display: 'grid', gap: '1rem' }}>
        {form.error !== null && <ErrorNotice error={form.error} />}
        <TextField
          label="Instrument"
          autoComplete="off"
          spellCheck={false}
          required
          readOnly={instrument !== ''}
          placeholder="stripe_issuing:ic_…"
          hint="The rail, a colon, and what the rail calls the card."
          {...form.field('instrument')}
        />
        <SelectField label="Agent" options={choices} {...form.field('agent')} />
        <Actions recorded>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={form.busy}>
            Assign
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}
