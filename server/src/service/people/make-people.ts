import type pg from 'pg';
import type { Logger } from 'pino';
import type { ClockWatch } from '../../engine/clock-watch.ts';
import type { Lane } from '../../engine/lane/lane.ts';
import type { Queryable } from '../../engine/storage/database.ts';
import type { MakeLimiter } from '../http/limiters.ts';
import type { Secrets } from '../installation/secrets.ts';
import { Attempts } from './attempts.ts';
import { type Devices, makeDevices } from './devices.ts';
import { type LinkTokens, makeLinkTokens } from './links.ts';
import { makeProvider, type OidcConfig, type Provider } from './oidc.ts';
import type { OidcRules } from './oidc-people.ts';
import { makePasswords } from './passwords.ts';
import { type SessionLimits, Sessions } from './sessions.ts';
import { SignInFlows } from './sign-in.ts';
import { type DeferredRecords, makeDeferredRecords, useOidcState } from './sign-in-rows.ts';
import { makeSite, type Site } from './site.ts';
import { verifying } from './verifying.ts';

/** Longer than a sign-in at the provider may take, whatever the clocks say. */
const USED_STATE_MINUTES = 60;

/** The settings about people. */
export interface PeopleConfig extends SessionLimits, OidcConfig, OidcRules {
  public_url: string | null;
  password_sign_in: 'on' | 'off';
}

/** Everything about people that one process has. */
export interface PeopleServices {
  site: Site;
  sessions: Sessions;
  devices: Devices;
  flows: SignInFlows;
  behind: DeferredRecords;
  links: LinkTokens;
  provider: Provider | null;
}

export interface PeopleOptions {
  db: pg.Pool;
  /** For the look-up of sessions, which holds up nothing else. */
  sessions_db: Queryable;
  /** The watch over the database's clock. */
  clock: ClockWatch;
  lane: Lane;
  secrets: Secrets;
  log: Logger;
  /** Makes the counters of wrong passwords. */
  makeLimiter: MakeLimiter;
  newId: (kind: 'session' | 'sign_in') => string;
  /** 32 random bytes, base64url. */
  newToken: () => string;
  /** 12 random bytes. */
  newNonce: () => Buffer;
  /** A clock on which only differences count, ms. */
  now_ms: () => number;
  /** The time of day, ms. */
  clock_ms: () => number;
}

/** Makes it from the settings. */
export function makePeople(config: PeopleConfig, options: PeopleOptions): PeopleServices {
  const { db, secrets, lane, newId } = options;
  const site = makeSite({ public_url: config.public_url, installation: secrets.secret_id });
  const links = makeLinkTokens(secrets.macs('link'));
  const sessions = new Sessions({
    db: options.sessions_db,
    clock: options.clock,
    site,
    limits: config,
    macs: secrets.macs('session'),
    newToken: options.newToken,
    newSessionId: () => newId('session'),
    log: options.log,
  });
  const { newToken, clock_ms } = options;
  const devices = makeDevices({ site, macs: secrets.macs('device'), newToken, clock_ms });
  const behind = makeDeferredRecords(options.log);
  const flows = new SignInFlows({
    db,
    lane,
    sessions,
    passwords: makePasswords(),
    attempts: new Attempts(options.makeLimiter, secrets.macs('attempts')[0]),
    devices,
    behind,
    setup_macs: secrets.macs('setup-code'),
    links,
    password_sign_in: config.password_sign_in === 'on',
    newSignInId: () => newId('sign_in'),
  });
  const { newNonce, now_ms } = options;
  const useUp = (state: string) => verifying(() => useOidcState(db, state, USED_STATE_MINUTES));
  const provider = makeProvider(config, { site, secrets, newNonce, now_ms, clock_ms, useUp });
  return { site, sessions, devices, flows, behind, links, provider };
}
