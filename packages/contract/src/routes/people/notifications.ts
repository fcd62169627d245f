import { type Static, Type } from 'typebox';
import { route } from '../../route.ts';
import { Fields, Nullable, OneOf, TimeZone } from '../../schema.ts';
import { DIGESTS, PERSON_EMAILS } from '../../values/mail.ts';
import { QuietHoursBody } from '../notices/channels.ts';

const settings = {
  time_zone: TimeZone({ description: 'The digest comes at 08:00 in it.' }),
  email: OneOf(PERSON_EMAILS, {
    description:
      '`MINE`: a mail for each request that you may decide, and what follows from it. `NONE`: no mail.',
  }),
  digest: OneOf(DIGESTS, {
    description:
      '`DAILY`: a mail at 08:00 with the requests that wait for you, unless there are none. Independent of `email`.',
  }),
  quiet_hours: Nullable(QuietHoursBody),
};

const SettingsIn = Fields(settings, { $id: 'NotificationSettingsRequest' });
export interface NotificationSettings extends Static<typeof SettingsIn> {}

const SettingsBody = Fields(
  {
    ...settings,
    sent_to: Nullable(Type.String({ examples: ['ada@example.com'] })),
  },
  {
    $id: 'NotificationSettings',
    description:
      '`sent_to` is your e-mail. It is null if you get no mail: the service has no mail server, or nothing has proved that the e-mail is yours.',
  },
);

const ANSWER = { 200: { description: 'Your settings.', schema: SettingsBody } };

export const routes = {
  getMyNotifications: route({
    method: 'GET',
    path: '/v1/me/notifications',
    operationId: 'getMyNotifications',
    tag: 'Sign-in',
    summary: 'Get your notification settings',
    description:
      'They apply in all your workspaces. By default you get a mail for each request that you may decide, and no digest.',
    scopes: 'session',
    responses: ANSWER,
    errors: [],
  }),
  updateMyNotifications: route({
    method: 'PUT',
    path: '/v1/me/notifications',
    operationId: 'updateMyNotifications',
    tag: 'Sign-in',
    summary: 'Change your notification settings',
    description: 'Replaces all of them. They apply to requests from then on.',
    scopes: 'session',
    body: SettingsIn,
    responses: ANSWER,
    errors: [],
  }),
};
