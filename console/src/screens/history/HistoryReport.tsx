import { FLAT_ROWS } from '@purser/contract/authority';
import {
  hoursInWords,
  inWords,
  limitInWords,
  payeeInWords,
  spanInWords,
} from '@purser/contract/authority-words';
import type { LineReplay, Proposal } from '@purser/sdk';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { purser } from '../../api/client.ts';
import { useAgentChoices } from '../../api/history.ts';
import { invalidate } from '../../api/live.ts';
import { useMay, WHY_NOT } from '../../api/queries.ts';
import { StateBadge } from '../../components/Badge.tsx';
import { Button } from '../../components/Button.tsx';
import { Actions } from '../../components/Dialog.tsx';
import { SelectField } from '../../components/Field.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { Card, Empty, Page } from '../../components/Page.tsx';
import { type Column, Table } from '../../components/Table.tsx';
import { Money, Time } from '../../components/Value.tsx';
import { useAction } from '../../lib/hooks/use-action.ts';
import { formatMoney } from '../../lib/money.ts';
import { visible } from '../../lib/visible.ts';
import { reasonWords, words } from '../../lib/words.ts';

/** As the API calls it. words-ignore */
const PROPOSE = 'Propose authority';
const percent = (share: number) => `${Math.floor(share * 1000) / 10} %`;
const rounded = (number: number) => String(Math.round(number * 10) / 10);

export default function HistoryReport() {
  const agents = useAgentChoices();
  const [agent, setAgent] = useState('');
  const [proposal, setProposal] = useState<Proposal | null>(null);
  const [replay, setReplay] = useState<LineReplay | null>(null);
  const [applied, setApplied] = useState<number | null>(null);
  const proposing = useAction(async () => {
    setApplied(null);
    const found = await purser.history.propose({ agent });
    setProposal(found);
    setReplay(found.replay);
  });
  const simulating = useAction(async (of: Proposal) => {
    setReplay(await purser.history.replay({ authority: of.authority, filter: { agent } }));
  });
  const choices = (agents.data ?? []).map(({ slug, name }) => [slug, visible(name)] as const);
  return (
    <Page
      title="What would have happened"
      above={<Link to={'/history' as string}>History</Link>}
      lead="A policy made from an agent’s lines, with the reason for each value. Nothing is saved until you apply it."
    >
      <Card title="Propose">
        <SelectField
          label="Agent"
          hint="Its purpose and blocked merchants stay as they are."
          value={agent}
          onValue={(value) => {
            setAgent(value);
            setProposal(null);
            setReplay(null);
          }}
          options={[['', 'Choose'], ...choices]}
        />
        <Actions>
          <Button
            kind="primary"
            busy={proposing.busy}
            why={agent === '' && 'Choose an agent first.'}
            onClick={() => void proposing.run()}
          >
            {PROPOSE}
          </Button>
        </Actions>
        {proposing.error !== null && <ErrorNotice error={proposing.error} />}
      </Card>
      <div role="status">
        {applied !== null && <Notice tone="good">Version {applied} is in effect.</Notice>}
      </div>
      {proposal !== null && (
        <Proposed
          proposal={proposal}
          agent={agent}
          onApplied={setApplied}
          onSimulate={() => void simulating.run(proposal)}
          busy={simulating.busy}
        />
      )}
      {simulating.error !== null && <ErrorNotice error={simulating.error} />}
      {replay !== null && <Replayed replay={replay} currency={proposal?.authority.currency ?? ''} />}
    </Page>
  );
}

type ProposedField = Proposal['fields'][number];

/** A limit over time, hours, or a payee. */
type Entry = Parameters<typeof limitInWords>[0] &
  Parameters<typeof hoursInWords>[0] &
  Parameters<typeof payeeInWords>[0];

/** A value of a policy as people read it. */
function valueWords(path: string, value: ProposedField['value'], currency: string): string {
  if (value === null) return '–';
  if (typeof value === 'number')
    return path.endsWith('_minor')
      ? formatMoney(value, currency)
      : path.endsWith('_seconds')
        ? spanInWords(value)
        : String(value);
  if (typeof value === 'string') return words(value);
  if (!Array.isArray(value)) return limitInWords(value as unknown as Entry, currency, formatMoney);
  const each = (value as unknown[]).map((one) => {
    if (typeof one === 'string') return one;
    return path === 'active_hours' ? hoursInWords(one as Entry) : payeeInWords(one as Entry);
  });
  return inWords(each);
}

/** A limit over time is named beside what it is; all others have a label. */
const labelOf = (path: string) => {
  const [field = '', name] = path.split('.');
  const label = FLAT_ROWS[field]?.label ?? field;
  return name === undefined ? label : `${label}: ${name}`;
};

const fieldsIn = (currency: string): readonly Column<ProposedField>[] => [
  { name: 'Field', heading: true, wrap: true, cell: (each) => labelOf(each.path) },
  { name: 'Value', wrap: true, cell: (each) => valueWords(each.path, each.value, currency) },
  { name: 'Now', wrap: true, cell: (each) => valueWords(each.path, each.base, currency) },
  { name: 'Why', wrap: true, cell: (each) => each.why },
];

function Proposed({
  proposal,
  agent,
  onApplied,
  onSimulate,
  busy,
}: {
  proposal: Proposal;
  agent: string;
  onApplied: (version: number) => void;
  onSimulate: () => void;
  busy: boolean;
}) {
  const may = useMay('admin');
  const version = (proposal.base?.version ?? 0) + 1;
  const applying = useAction(async () => {
    const { authority: draft, base } = proposal;
    const options = base === null ? {} : { ifMatch: base.hash };
    const made = await purser.agents.authority.set(agent, draft, options);
    void invalidate('agents');
    onApplied(made.version);
  });
  return (
    <>
      <Card title="Proposed policy" flush={proposal.fields.length > 0}>
        {proposal.fields.length === 0 ? (
          <Empty title="No lines">
            <p>This agent has no lines yet. Import a file for it first.</p>
          </Empty>
        ) : (
          <Table
            label="Proposed policy"
            rows={proposal.fields}
            keyOf={(each) => each.path}
            columns={fieldsIn(proposal.authority.currency)}
          />
        )}
      </Card>
      <Card title="Apply">
        <p>
          Made from the first four fifths alone, it allows {percent(proposal.check.allow_share)} of the last{' '}
          {proposal.check.lines}.
          {proposal.relaxed.length > 0 &&
            ` Left out so that enough is allowed: ${inWords(proposal.relaxed.map(words))}.`}
        </p>
        {applying.error !== null && <ErrorNotice error={applying.error} />}
        <Actions recorded={may}>
          <Button busy={busy} onClick={onSimulate}>
            Simulate again
          </Button>
          <Button
            kind="primary"
            busy={applying.busy}
            why={(!may && WHY_NOT.admin) || (proposal.fields.length === 0 && 'There is nothing to apply.')}
            onClick={() => void applying.run()}
          >
            Apply as version {version}
          </Button>
        </Actions>
      </Card>
    </>
  );
}

type Stopped = LineReplay['stopped'][number];

function Replayed({ replay, currency }: { replay: LineReplay; currency: string }) {
  const { allow, review, deny } = replay.draft;
  const columns: readonly Column<Stopped>[] = [
    { name: 'Merchant', heading: true, wrap: true, cell: (each) => visible(each.merchant) },
    {
      name: 'Amount',
      number: true,
      cell: (each) => <Money amount_minor={each.amount_minor} currency={currency} />,
    },
    { name: 'Decision', cell: (each) => <StateBadge state={each.decision} /> },
    { name: 'Why', wrap: true, cell: (each) => each.explanation },
    { name: 'Time', cell: (each) => <Time at={each.occurred_at} /> },
  ];
  return (
    <Card title="Result" flush={replay.stopped.length > 0}>
      <p>
        {replay.evaluated} purchases: {allow} allowed ({percent(replay.allow_share)}), {review} for review (
        {rounded(replay.reviews_per_week)} a week), {deny} denied.
      </p>
      <p>
        {replay.by_reason
          .map(({ reason_code, count }) => `${reasonWords(reason_code)}: ${count}`)
          .join(' · ')}
      </p>
      {replay.skipped.length > 0 && (
        <p>Left out: {replay.skipped.map(({ reason, count }) => `${words(reason)} ${count}`).join(', ')}</p>
      )}
      {replay.stopped.length > 0 && (
        <Table label="Stopped lines" rows={replay.stopped} keyOf={(each) => each.line_id} columns={columns} />
      )}
    </Card>
  );
}
