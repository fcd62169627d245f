import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { User } from '@purser/rules/domain/people';
import type { Mac } from '../installation/secrets.ts';
import type { Site } from './site.ts';

const DAY_MS = 86_400_000;
const DEVICE_DAYS = 180;
const TOKEN = /^(usr_[0-9A-HJKMNP-TV-Z]{26})\.([A-Za-z0-9_-]{43})\.(\d{1,9})\.(\d{13})\.([A-Za-z0-9_-]{43})$/;

/** A browser in which a person signed in during the last 180 days. */
export interface Device {
  device_id: string;
  user_id: string;
  /** The epoch of that sign-in: in a later one the browser may belong to another person, who created the account. */
  credential_epoch: number;
}

/**
 * Browsers that people signed in with, known by a device cookie (OWASP, “Slow Down Online Guessing Attacks with Device
 * Cookies”). The cookie lets nobody in. It keeps a place at the door for its person while others guess at their password.
 */
export interface Devices {
  /** The browser of a request; null if it has no good cookie. */
  of(headers: IncomingHttpHeaders): Device | null;
  /** A `set-cookie` by which a browser is known as this person's from now on. The same person keeps the same device. */
  remember(person: Pick<User, 'user_id' | 'credential_epoch'>, headers: IncomingHttpHeaders): string;
}

/** Makes it. Nothing is stored: the cookie is proved by the first of `macs`, or by an earlier one. */
export function makeDevices(options: {
  site: Site;
  macs: readonly [Mac, ...Mac[]];
  newToken: () => string;
  /** The time of day, ms. */
  clock_ms: () => number;
}): Devices {
  const { site, macs, newToken, clock_ms } = options;
  const prove = (mac: Mac, text: string) => Buffer.from(mac(text).toString('base64url'));

  function of(headers: IncomingHttpHeaders): Device | null {
    const [, user_id, device_id, epoch, made_ms, proof] = TOKEN.exec(site.deviceCookie(headers) ?? '') ?? [];
    if (user_id === undefined || device_id === undefined) return null;
    if (clock_ms() - Number(made_ms) >= DEVICE_DAYS * DAY_MS) return null;
    const given = Buffer.from(proof as string);
    const text = `${user_id}.${device_id}.${epoch}.${made_ms}`;
    if (!macs.some((mac) => timingSafeEqual(prove(mac, text), given))) return null;
    return { device_id, user_id, credential_epoch: Number(epoch) };
  }

  return {
    of,
    remember({ user_id, credential_epoch }, headers) {
      const before = of(headers);
      const device_id = before?.user_id === user_id ? before.device_id : newToken();
      const text = `${user_id}.${device_id}.${credential_epoch}.${clock_ms()}`;
      return site.setDevice(`${text}.${prove(macs[0], text)}`, (DEVICE_DAYS * DAY_MS) / 1_000);
    },
  };
}
