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
import { useForm } from '../../lib/hooks/use-form.ts';
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

/** Creates or changes a channel. The URL of one that exists is never shown: an empty field keeps it. */
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
      {form.values.type === 'email' ? (
        <TextField
          label="Addresses"
          autoComplete="off"
          required
          hint="Separated by commas, at most 20. Each gets a mail of its own."
          {...form.field('addresses')}
        />
      ) : (
        <TextField
          label="URL"
          type="url"
          inputMode="url"
          autoComplete="off"
          spellCheck={false}
          required={is_new}
          placeholder={is_new ? 'https://hooks.example.com/…' : 'Unchanged'}
          hint={
            is_new
              ? 'It is stored encrypted and never shown again.'
              : `Notices go to ${channel.target}. Leave this empty to keep the URL.`
          }
          {...form.field('url')}
        />
      )}
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
