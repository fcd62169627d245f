import { CHANNEL_TYPE_ROWS } from '@purser/contract/values/channels';
import type { Channel, NewChannel } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { channels, channelsQuery } from '../../api/channels.ts';
import { invalidate } from '../../api/live.ts';
import { useMay, WHY_NOT } from '../../api/queries.ts';
import { refetchSoon } from '../../api/refetch-soon.ts';
import { AdminOnly } from '../../components/AdminOnly.tsx';
import { RecordedAs } from '../../components/Author.tsx';
import { StateBadge } from '../../components/Badge.tsx';
import { Button } from '../../components/Button.tsx';
import { Confirm } from '../../components/Confirm.tsx';
import { Actions, Dialog } from '../../components/Dialog.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import styles from '../../components/notifications/notifications.module.css';
import { OwnNotifications } from '../../components/notifications/OwnNotifications.tsx';
import { Card, Empty, Loading, Page } from '../../components/Page.tsx';
import { ShownOnce } from '../../components/ShownOnce.tsx';
import { type Column, Table } from '../../components/Table.tsx';
import { Time } from '../../components/Value.tsx';
import { channelFields, filterOf, filterWords, quietHoursOf, quietWords } from '../../lib/channels.ts';
import { useAction } from '../../lib/hooks/use-action.ts';
import { ChannelForm } from './ChannelForm.tsx';
import { RecentNotices } from './RecentNotices.tsx';

const refetchChannels = () => invalidate('channels');

export default function Notifications() {
  const may = useMay('admin');
  const [is_adding, setAdding] = useState(false);
  return (
    <Page
      title="Notifications"
      lead="Purser notifies people and channels of requests that are pending review."
      actions={
        <>
          <Button kind="primary" why={!may && WHY_NOT.admin} onClick={() => setAdding(true)}>
            Add channel
          </Button>
          {may && <RecordedAs />}
        </>
      }
    >
      <OwnNotifications />
      <AdminOnly what="channels">
        <Channels />
      </AdminOnly>
      <RecentNotices />
      {is_adding && <AddChannel onClose={() => setAdding(false)} />}
    </Page>
  );
}

function Channels() {
  const query = useQuery(channelsQuery);
  const [asked, setAsked] = useState<{ what: 'edit' | 'delete'; channel: Channel } | null>(null);
  const [tested, setTested] = useState<string | null>(null);
  const testing = useAction(async ({ id, name }: Channel) => {
    setTested(null);
    await channels.test(id);
    setTested(name);
    refetchSoon('notices');
    refetchSoon('channels');
  });
  const switching = useAction(async ({ id, status }: Channel) => {
    await channels.update(id, { status: status === 'active' ? 'disabled' : 'active' });
    await refetchChannels();
  });
  if (query.isError && query.data === undefined)
    return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  if (query.data === undefined) return <Loading lines={6} />;
  const error = testing.error ?? switching.error;
  return (
    <>
      <div role="status">
        {tested !== null && (
          <Notice tone="good">A test is on its way to “{tested}”. See Recent notices for the result.</Notice>
        )}
      </div>
      {error !== null && <ErrorNotice error={error} />}
      <Card title="Channels" flush={query.data.length > 0}>
        {query.data.length === 0 ? (
          <Empty title="No channels yet">
            <p>Add Slack, Microsoft Teams, a webhook or e-mail addresses to notify more than one person.</p>
          </Empty>
        ) : (
          <Table
            label="Channels"
            rows={query.data}
            keyOf={(each) => each.id}
            columns={[
              ...COLUMNS,
              {
                name: 'Actions',
                hideName: true,
                cell: (each) => (
                  <ChannelButtons
                    channel={each}
                    busy={testing.busy || switching.busy}
                    onTest={() => void testing.run(each)}
                    onSwitch={() => void switching.run(each)}
                    onAsk={(what) => setAsked({ what, channel: each })}
                  />
                ),
              },
            ]}
          />
        )}
      </Card>
      {asked?.what === 'edit' && <EditChannel channel={asked.channel} onClose={() => setAsked(null)} />}
      {asked?.what === 'delete' && (
        <Confirm
          title={`Delete the channel “${asked.channel.name}”?`}
          action="Delete"
          onClose={() => setAsked(null)}
          work={async () => {
            await channels.delete(asked.channel.id);
            void refetchChannels();
          }}
        >
          <p>
            Purser sends nothing more to <code>{asked.channel.target}</code>, including pending notices. To
            pause the channel, disable it instead.
          </p>
        </Confirm>
      )}
    </>
  );
}

const COLUMNS: readonly Column<Channel>[] = [
  { name: 'Name', heading: true, wrap: true, cell: (each) => each.name },
  { name: 'Type', cell: (each) => CHANNEL_TYPE_ROWS[each.type].label },
  { name: 'Sent to', wrap: true, cell: (each) => <span title={each.target}>{each.target}</span> },
  { name: 'Requests', wrap: true, cell: (each) => filterWords(each.filter) },
  { name: 'Quiet hours', wrap: true, cell: (each) => quietWords(each.quiet_hours) },
  { name: 'Health', cell: (each) => <Health channel={each} /> },
];

function Health({ channel: { health } }: { channel: Channel }) {
  return (
    <>
      <StateBadge state={health.state} title={health.last_error ?? undefined} />
      {health.state === 'FAILING' && health.failing_since !== null && (
        <>
          {' '}
          since <Time at={health.failing_since} />
        </>
      )}
    </>
  );
}

function ChannelButtons({
  channel,
  busy,
  onTest,
  onSwitch,
  onAsk,
}: {
  channel: Channel;
  busy: boolean;
  onTest: () => void;
  onSwitch: () => void;
  onAsk: (what: 'edit' | 'delete') => void;
}) {
  const is_active = channel.status === 'active';
  const named = (action: string) => `${action}: ${channel.name}`;
  return (
    <span className={styles.buttons}>
      <Button
        small
        aria-label={named('Send test')}
        disabled={busy}
        why={!is_active && 'Enable the channel first.'}
        onClick={onTest}
      >
        Send test
      </Button>
      <Button small aria-label={named('Edit')} onClick={() => onAsk('edit')}>
        Edit
      </Button>
      <Button small aria-label={named(is_active ? 'Disable' : 'Enable')} disabled={busy} onClick={onSwitch}>
        {is_active ? 'Disable' : 'Enable'}
      </Button>
      <Button small kind="danger" aria-label={named('Delete')} onClick={() => onAsk('delete')}>
        Delete
      </Button>
    </span>
  );
}

function EditChannel({ channel, onClose }: { channel: Channel; onClose: () => void }) {
  return (
    <Dialog title="Edit channel" onClose={onClose}>
      <ChannelForm
        channel={channel}
        onClose={onClose}
        submit={async (draft) => {
          const changes = { filter: filterOf(draft), quiet_hours: quietHoursOf(draft) };
          await channels.update(channel.id, { ...channelFields(draft), ...changes });
          await refetchChannels();
          onClose();
        }}
      />
    </Dialog>
  );
}

function AddChannel({ onClose }: { onClose: () => void }) {
  const [made, setMade] = useState<NewChannel | null>(null);
  return (
    <Dialog title={made === null ? 'Add channel' : 'Channel secret'} onClose={onClose}>
      {made === null ? (
        <ChannelForm
          channel={null}
          onClose={onClose}
          submit={async (draft) => {
            const filter = filterOf(draft);
            const quiet_hours = quietHoursOf(draft);
            const answer = await channels.create({
              type: draft.type,
              ...channelFields(draft),
              ...(filter === null ? {} : { filter }),
              ...(quiet_hours === null ? {} : { quiet_hours }),
            });
            void refetchChannels();
            if (answer.secret === undefined) onClose();
            else setMade(answer);
          }}
        />
      ) : (
        <>
          <ShownOnce title="Copy this secret now." label="the secret" secret={made.secret as string}>
            <p>The receiver uses it to verify that a notice comes from Purser (Standard Webhooks).</p>
          </ShownOnce>
          <Actions>
            <Button kind="primary" onClick={onClose}>
              Done
            </Button>
          </Actions>
        </>
      )}
    </Dialog>
  );
}
