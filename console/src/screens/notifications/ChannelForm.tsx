import { REASON_CODES, REASONS, type Severity } from '@purser/contract/reasons';
import { CHANNEL_TYPE_ROWS, CHANNEL_TYPES } from '@purser/contract/values/channels';
import type { Channel } from '@purser/sdk';
import { Button } from '../../components/Button.tsx';
import { Actions } from '../../components/Dialog.tsx';
import { SelectField, TextField } from '../../components/Field.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import styles from '../../components/notifications/notifications.module.css';
import { QuietHoursFields } from '../../components/notifications/QuietHoursFields.tsx';
import { type ChannelDraft, channelDraft, channelProblems } from '../../lib/channels.ts';
import { type Form, useForm } from '../../lib/hooks/use-form.ts';
import { reasonWords } from '../../lib/words.ts';

/** The causes of a review. */
const REVIEW_REASON_CODES = REASON_CODES.filter((code) =>
  (REASONS[code].severities as readonly Severity[]).includes('REVIEW'),
);
const TYPES = CHANNEL_TYPES.map((type) => [type, CHANNEL_TYPE_ROWS[type].label] as const);
const FIELDS = {
  'filter.currency': 'currency',
  'filter.from_minor': 'from',
  'filter.agents': 'agents',
} as const;

/** Creates or changes a channel. */
export function ChannelForm({
  channel,
  submit,
  onClose,
}: {
  channel: Channel | null;
  submit: (draft: ChannelDraft) => Promise<unknown>;
  onClose: () => void;
}) {
  const is_new = channel === null;
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const form = useForm<ChannelDraft>(channelDraft(channel, zone), submit, {
    check: (draft) => channelProblems(draft, is_new) as Partial<Record<keyof ChannelDraft & string, string>>,
    fields: FIELDS,
  });
  const reasons = form.values.reasons.split(',');
  return (
    <form onSubmit={form.onSubmit} noValidate className={styles.form}>
      {form.error !== null && <ErrorNotice error={form.error} />}
      <TextField label="Name" autoComplete="off" autoFocus required maxLength={64} {...form.field('name')} />
      {is_new && <SelectField label="Type" {...form.field('type')} options={TYPES} />}
      <Settings form={form} channel={channel} />
      <details className={styles.more} open={channel?.filter != null}>
        <summary>Only some requests</summary>
        <div>
          <TextField
            label="Agents"
            autoComplete="off"
            spellCheck={false}
            optional
            hint="Slugs, separated by commas. Empty: all agents."
            {...form.field('agents')}
          />
          <div className={styles.pair}>
            <TextField
              label="Currency"
              autoComplete="off"
              maxLength={3}
              optional
              {...form.field('currency')}
            />
            <TextField
              label="Amount from"
              inputMode="decimal"
              autoComplete="off"
              optional
              {...form.field('from')}
            />
          </div>
          <fieldset className={styles.days}>
            <legend>Causes</legend>
            {REVIEW_REASON_CODES.map((code) => (
              <label key={code}>
                <input
                  type="checkbox"
                  checked={reasons.includes(code)}
                  onChange={() =>
                    form.set(
                      'reasons',
                      REVIEW_REASON_CODES.filter((each) => reasons.includes(each) !== (each === code)).join(),
                    )
                  }
                />
                {reasonWords(code)}
              </label>
            ))}
          </fieldset>
        </div>
      </details>
      <QuietHoursFields form={form as never} />
      <SelectField
        label="The agent’s description"
        hint="Amount, agent, cause, merchant and expiry are always sent."
        {...form.field('claims')}
        options={[
          ['yes', 'Is sent'],
          ['no', 'Is left out'],
        ]}
      />
      <Actions recorded>
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="primary" type="submit" busy={form.busy}>
          {is_new ? 'Add channel' : 'Save'}
        </Button>
      </Actions>
    </form>
  );
}

/** The settings of the form's type. Those of a channel that exists are never shown: an empty field keeps them. */
function Settings({ form, channel }: { form: Form<ChannelDraft>; channel: Channel | null }) {
  const is_new = channel === null;
  const kept = is_new ? '' : ' Leave this empty to keep it.';
  const secret = { autoComplete: 'off', spellCheck: false, required: is_new } as const;
  const { type } = form.values;
  if (type === 'email') {
    return (
      <TextField
        label="Addresses"
        autoComplete="off"
        required
        hint="Separated by commas, at most 20. Each gets a mail of its own."
        {...form.field('addresses')}
      />
    );
  }
  if (type === 'slack_app') {
    return (
      <>
        <TextField
          label="App-level token"
          {...secret}
          placeholder={is_new ? 'xapp-…' : 'Unchanged'}
          hint={`With the scope connections:write. It is stored encrypted and never shown again.${kept}`}
          {...form.field('app_token')}
        />
        <TextField
          label="Bot token"
          {...secret}
          placeholder={is_new ? 'xoxb-…' : 'Unchanged'}
          hint={`With the scope chat:write. It is stored encrypted and never shown again.${kept}`}
          {...form.field('bot_token')}
        />
        <TextField
          label="Channel"
          {...secret}
          placeholder={is_new ? 'C0123ABCD' : 'Unchanged'}
          hint={
            is_new
              ? 'The ID of the channel in Slack. Invite the app there.'
              : `Cards go to ${channel.target}.${kept}`
          }
          {...form.field('channel')}
        />
      </>
    );
  }
  return (
    <TextField
      label="URL"
      type="url"
      inputMode="url"
      {...secret}
      placeholder={is_new ? 'https://hooks.example.com/…' : 'Unchanged'}
      hint={
        is_new ? 'It is stored encrypted and never shown again.' : `Notices go to ${channel.target}.${kept}`
      }
      {...form.field('url')}
    />
  );
}
