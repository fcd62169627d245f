import type { NotificationSettings } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { mySettings } from '../../api/channels.ts';
import { queryClient } from '../../api/queries.ts';
import { isTimeZone } from '../../lib/authority/zones.ts';
import { quietDraft, quietHoursOf, quietProblems } from '../../lib/channels.ts';
import { useForm } from '../../lib/hooks/use-form.ts';
import { Button } from '../Button.tsx';
import { SelectField } from '../Field.tsx';
import { ErrorNotice, Notice } from '../Notice.tsx';
import { Card, Loading } from '../Page.tsx';
import { InThisBrowser } from './InThisBrowser.tsx';
import styles from './notifications.module.css';
import { QuietHoursFields, ZoneField } from './QuietHoursFields.tsx';

const settingsQuery = { queryKey: ['my-notifications'], queryFn: mySettings.get };

/** The signed-in person's own notifications. */
export function OwnNotifications() {
  const query = useQuery(settingsQuery);
  return (
    <Card title="Your notifications">
      {query.isError && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <Loading lines={4} />}
      <InThisBrowser />
      {query.data !== undefined && <SettingsForm settings={query.data} />}
    </Card>
  );
}

function SettingsForm({ settings }: { settings: NotificationSettings }) {
  const [is_saved, setSaved] = useState(false);
  const form = useForm(
    {
      email: settings.email as string,
      digest: settings.digest as string,
      time_zone: settings.time_zone,
      ...quietDraft(settings.quiet_hours, settings.time_zone),
    },
    async (values) => {
      setSaved(false);
      const put = await mySettings.put({
        email: values.email as NotificationSettings['email'],
        digest: values.digest as NotificationSettings['digest'],
        time_zone: values.time_zone.trim(),
        quiet_hours: quietHoursOf(values),
      });
      queryClient.setQueryData(settingsQuery.queryKey, put);
      setSaved(true);
    },
    {
      check: (values) => ({
        ...(isTimeZone(values.time_zone.trim()) ? {} : { time_zone: 'must be a time zone' }),
        ...quietProblems(values),
      }),
    },
  );
  return (
    <form onSubmit={form.onSubmit} noValidate className={styles.form}>
      {form.error !== null && <ErrorNotice error={form.error} />}
      {settings.sent_to === null ? (
        <Notice tone="warn" title="You get no mail.">
          This service has no mail server, or nothing has proved that your e-mail is yours. A reset link
          proves it. These settings apply as soon as you get mail.
        </Notice>
      ) : (
        <p>
          Mail goes to <strong>{settings.sent_to}</strong>. These settings apply in all your workspaces.
        </p>
      )}
      <div className={styles.pair}>
        <SelectField
          label="Mail"
          {...form.field('email')}
          options={[
            ['MINE', 'For each request that I may decide'],
            ['NONE', 'None'],
          ]}
        />
        <SelectField
          label="Digest"
          {...form.field('digest')}
          options={[
            ['NONE', 'None'],
            ['DAILY', 'Daily at 08:00, if requests are pending'],
          ]}
        />
        <ZoneField label="Time zone" {...form.field('time_zone')} />
      </div>
      <QuietHoursFields form={form as never} />
      <div role="status">{is_saved && <Notice tone="good">Saved.</Notice>}</div>
      <div>
        <Button kind="primary" type="submit" busy={form.busy}>
          Save
        </Button>
      </div>
    </form>
  );
}
