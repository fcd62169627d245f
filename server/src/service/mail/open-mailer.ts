import type { Config } from '../config/config.ts';
import type { Core } from '../installation/runtime.ts';
import { type Mailer, makeMailer } from './mailer.ts';

/** Makes the mailer of the settings; null without a mail server. */
export function openMailer(
  { metrics }: Pick<Core, 'metrics'>,
  { smtp_url, smtp_from }: Pick<Config, 'smtp_url' | 'smtp_from'>,
): Mailer | null {
  if (smtp_url === null || smtp_from === null) return null;
  return makeMailer({ server: smtp_url, sender: smtp_from, countMail: metrics.countMail });
}
