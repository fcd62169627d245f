import type { Logger } from 'pino';
import type { ClockWatch } from './engine/clock-watch.ts';
import { makeApiRoutes } from './service/api/routes.ts';
import type { Config } from './service/config/config.ts';
import { makeAuthenticate } from './service/http/auth.ts';
import { makeOwnLimiter } from './service/http/limiters.ts';
import { closeServer, makeServer } from './service/http/server.ts';
import { type Core, type Database, makeCore, newId } from './service/installation/runtime.ts';
import { listUsers } from './service/people/user-rows.ts';
import { type MadeSample, makeSamples, type OpenSample, type Samples } from './service/samples/samples.ts';

/** Believes the sample's clock, which its writer moves. */
const MOVED_CLOCK: ClockWatch = {
  elapsed_ms: () => performance.now(),
  observe: () => true,
  doubt: () => null,
  isSettled: () => true,
  passedMs: () => Number.NEGATIVE_INFINITY,
  aheadMs: () => 0,
  onStep: () => {},
};

/** Nobody but the writer of the sample calls, one request after the other. */
const UNLIMITED = 1_000_000_000;
const DEADLINE_MS = 30_000;

/**
 * Returns what opens the whole service within this process, on connections that have the clock of one sample. It listens
 * nowhere: the writer of the sample calls its routes, through every hook that a request from outside goes through.
 */
export function makeOpenSample(config: Config, database: Database, log: Logger): OpenSample {
  return (sample) => {
    const core = makeCore({ ...database, clock: MOVED_CLOCK, sample }, log);
    const server = makeServer({
      // Nothing of a sample is mailed, and no model is asked about it.
      routes: makeApiRoutes(core, { ...config, smtp_url: null }),
      authenticate: makeAuthenticate({
        db: core.keys_db,
        clock: core.clock,
        keyDigests: core.secrets.keyDigests,
        onOtherDigest: () => {},
        onUse: () => {},
        onFailure: (error) => log.error({ err: error }, 'keys of a sample could not be looked up'),
      }),
      rate_limit_per_minute: UNLIMITED,
      unknown_key_limit_per_minute: UNLIMITED,
      makeLimiter: makeOwnLimiter,
      deadline_ms: DEADLINE_MS,
      balance: null,
      keep_alive_ms: DEADLINE_MS,
      isFull: core.lane.isFull,
      trusted_proxies: [],
      logger: log.child({}, { level: 'error' }),
      newRequestId: () => newId('request'),
      now_ms: core.now_ms,
      metrics: core.metrics,
      tracing: null,
    });
    return {
      core,
      async call(key, method, path, body, headers = {}) {
        const answered = await server.inject({
          method,
          url: path,
          headers: {
            'x-api-key': key,
            ...headers,
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          },
          ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
        });
        if (answered.statusCode >= 300)
          throw new Error(`${method} ${path} of a sample was answered with ${answered.payload}`);
        return answered.payload === '' ? null : JSON.parse(answered.payload);
      },
      async close() {
        await closeServer(server);
        await core.close();
      },
    };
  };
}

/** Makes the samples of an installation, with what the process has of it already. */
export const samplesOf = (
  core: Pick<Core, 'db' | 'lane' | 'log'>,
  config: Config,
  database: Database,
): Samples =>
  makeSamples({
    db: core.db,
    lane: core.lane,
    log: core.log,
    address: database.address,
    open: makeOpenSample(config, database, core.log),
  });

/**
 * Creates the operator's sample, or finds it. The installation's only person, if there is one, becomes its administrator;
 * the first person joins it otherwise.
 */
export async function createOperatorSample(
  core: Core,
  config: Config,
  database: Database,
): Promise<MadeSample> {
  const people = (await listUsers(core.db)).filter((each) => each.disabled_at === null);
  const [only] = people;
  const user_id = people.length === 1 && only !== undefined ? only.user_id : null;
  return samplesOf(core, config, database).create(user_id, 'team');
}
