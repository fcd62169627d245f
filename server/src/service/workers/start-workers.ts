import { randomBytes, randomUUID } from 'node:crypto';
import {
  aggregateFeedback,
  MAX_PAGES_PER_ROUND as LEARN_PAGES,
} from '../../engine/feedback/aggregate-feedback.ts';
import { makeFollowerRound } from '../../engine/followers/follow-chains.ts';
import { countCoverage } from '../../engine/matching/coverage-report.ts';
import {
  MAX_FULL_PAGES_PER_ROUND as COVERAGE_FULL_PAGES,
  MAX_PAGES_PER_ROUND as COVERAGE_PAGES,
  followLines,
} from '../../engine/matching/follow-lines.ts';
import {
  MAX_PAGES_PER_ROUND as ROLL_UP_PAGES,
  rollUpDecisions,
} from '../../engine/reports/roll-up-decisions.ts';
import {
  MAX_FULL_PAGES_PER_ROUND as INDEX_FULL_PAGES,
  MAX_PAGES_PER_ROUND as INDEX_PAGES,
  indexTexts,
} from '../../engine/search/index-texts.ts';
import { readClock } from '../../engine/storage/workspaces.ts';
import type { SecondOpinion } from '../api/second-opinion.ts';
import type { Config } from '../config/config.ts';
import { type Core, random } from '../installation/runtime.ts';
import { makeMailSenders } from '../mail/mail-senders.ts';
import type { Mailer } from '../mail/mailer.ts';
import { makeSendEmails } from '../mail/send-emails.ts';
import { makeUrlSenders } from '../notices/make-senders.ts';
import { makeSendDigests } from '../notices/send-digests.ts';
import { makeLinkTokens } from '../people/links.ts';
import { pruneOldSignIns } from '../people/session-rows.ts';
import type { Sessions } from '../people/sessions.ts';
import type { Site } from '../people/site.ts';
import { makeSlackParts, type SlackParts } from '../slack/slack-parts.ts';
import { makeResolve, makeSystemResolve } from '../webhook-delivery/addresses.ts';
import { connectEndpoint } from '../webhook-delivery/client.ts';
import { makeDatabaseClock } from '../webhook-delivery/clock.ts';
import { startWebhookDelivery } from '../webhook-delivery/deliver.ts';
import type { WebhookDeliverer } from '../webhook-delivery/delivery-options.ts';
import { MAX_WINDOW } from '../webhook-delivery/leased-queues.ts';
import { pruneOldWebhooks } from '../webhook-delivery/prune.ts';
import type { Senders } from '../webhook-delivery/sender.ts';
import { makeReservationSweep } from './expire-reservations.ts';
import { makeKnownMerchantsBackfill } from './fill-known-merchants.ts';
import { type Loop, startLoop } from './loop.ts';
import type { KeyUses } from './note-key-uses.ts';
import { makeReportUnmatched } from './report-unmatched.ts';
import type { KeyRewrapping } from './rewrap-keys.ts';
import { sweepOldCounters } from './sweep-counters.ts';

const SWEEP_PAUSE_MS = 1_000;
const KEY_USES_PAUSE_MS = 5_000;
/** Feedback reaches the assessor within a few of these pauses. */
const LEARN_PAUSE_MS = 1_000;
const ROLL_UP_PAUSE_MS = 2_000;
/** A new decision is found after a pause or two. */
const INDEX_PAUSE_MS = 1_000;
/** A line is compared after a pause or two. */
const COVERAGE_PAUSE_MS = 1_000;
const UNMATCHED_PAUSE_MS = 5_000;
const FILL_PAUSE_MS = 2_000;
const PRUNE_PAUSE_MS = 60_000;
const MAIL_PAUSE_MS = 1_000;
const DIGEST_PAUSE_MS = 5_000;
/** A new channel of a Slack app is connected within this pause, and leases are renewed. */
const SLACK_PAUSE_MS = 2_000;
/** The delay until the model's costs appear in reports and count on other nodes. */
const MODEL_USAGE_PAUSE_MS = 2_000;
const SIGN_PAUSE_MS = 1_000;
/** The database's clock is read this often for the watch over it, also while nobody writes. */
const CLOCK_PAUSE_MS = 5_000;

type WorkerConfig = Pick<
  Config,
  | 'webhook_allow_private_network'
  | 'webhook_retry_first_ms'
  | 'webhook_retry_max_ms'
  | 'webhook_timeout_ms'
  | 'public_url'
  | 'port'
  | 'slack_api_url'
  | 'capability_ttl_seconds'
>;

const newSlackCode = () => randomBytes(20).toString('base64url');

/** Starts the delivery of webhooks and notices with the settings. `senders`: those of mail. */
function startWebhooks(core: Core, config: WorkerConfig, senders: Senders): WebhookDeliverer {
  const { webhooks_db, lane, log, secrets, metrics } = core;
  const allow_private = config.webhook_allow_private_network;
  const timeout_ms = config.webhook_timeout_ms;
  const client = {
    resolve: allow_private ? makeSystemResolve() : makeResolve(),
    allow_private,
    timeout_ms,
    connections: MAX_WINDOW,
  };
  const connect = (url: string) => connectEndpoint(url, client);
  const clock = makeDatabaseClock({ readClock: () => readClock(webhooks_db), watch: core.clock });
  const delivery = startWebhookDelivery({
    db: webhooks_db,
    lane,
    log,
    clock,
    onClockStep: (listener) => core.clock.onStep(listener),
    random,
    worker: randomUUID(),
    openSecret: secrets.openWebhookSecret,
    connect,
    senders: { ...makeUrlSenders({ connect, now_ms: () => clock.now_ms() }), ...senders },
    public_url: config.public_url ?? `http://localhost:${config.port}`,
    schedule: { first_ms: config.webhook_retry_first_ms, max_ms: config.webhook_retry_max_ms },
    timeout_ms,
    countAttempt: metrics.countWebhookAttempt,
    countNotice: metrics.countNotice,
  });
  core.onPublished(delivery.wake);
  return delivery;
}

/** The mailer where there is one, and the site that links lead to. */
export interface LinkParts {
  mailer: Mailer | null;
  site: Site;
}

/** The senders of mail. Members change their own notices at their account, administrators the channels. */
const mailSenders = ({ mailer, site }: LinkParts): Senders =>
  mailer === null
    ? {}
    : makeMailSenders(mailer, {
        channels: () => site.consoleUrl('notifications'),
        own: () => site.consoleUrl('me'),
      });

type StartLoop = (name: string, pause_ms: number, work: () => Promise<void>, may?: () => boolean) => Loop;

/** Starts the workers that read the chain in order. */
function startFollowers(loop: StartLoop, { followers_db: pool, log, turns }: Core): Loop[] {
  const { pause } = turns;
  return [
    loop(
      'roll-up-decisions',
      ROLL_UP_PAUSE_MS,
      makeFollowerRound({ pool, follower: rollUpDecisions, max_pages: ROLL_UP_PAGES, log, pause }),
    ),
    loop(
      'aggregate-feedback',
      LEARN_PAUSE_MS,
      makeFollowerRound({ pool, follower: aggregateFeedback, max_pages: LEARN_PAGES, log, pause }),
    ),
    loop(
      'index-texts',
      INDEX_PAUSE_MS,
      makeFollowerRound({
        pool,
        follower: indexTexts,
        max_pages: INDEX_PAGES,
        max_full_pages: INDEX_FULL_PAGES,
        log,
        pause,
      }),
    ),
    loop(
      'follow-lines',
      COVERAGE_PAUSE_MS,
      makeFollowerRound({
        pool,
        follower: followLines,
        max_pages: COVERAGE_PAGES,
        max_full_pages: COVERAGE_FULL_PAGES,
        log,
        pause,
      }),
    ),
  ];
}

/** Starts the workers. They run inside `serve`, or as a process of their own with `work`. */
export function startWorkers(
  core: Core,
  config: WorkerConfig,
  of_requests: {
    key_uses: KeyUses;
    rewrapping: KeyRewrapping;
    sessions: Sessions;
    second_opinion: SecondOpinion | null;
  } | null,
  links_to: LinkParts,
): { stop(): Promise<void> } {
  const { db, lane, log, followers_db: pool, webhooks_db, clock } = core;
  const loop: StartLoop = (name, pause_ms, work, may = () => true) => {
    const round = async () => void (may() && (await work()));
    return startLoop({ name, pause_ms, round, log, now_ms: core.now_ms });
  };
  const believed = () => clock.doubt() === null;
  const isSettled = () => clock.isSettled();
  const { mailer, site } = links_to;
  const slack: SlackParts = makeSlackParts(core, config, site, {
    worker: randomUUID(),
    newCode: newSlackCode,
  });
  const delivery = startWebhooks(core, config, { ...mailSenders(links_to), slack_app: slack.sender });
  const loops = [
    loop('watch-clock', CLOCK_PAUSE_MS, core.readClock),
    loop('sweep-reservations', SWEEP_PAUSE_MS, makeReservationSweep({ db, lane, log }), believed),
    ...startFollowers(loop, core),
    loop('report-unmatched', UNMATCHED_PAUSE_MS, makeReportUnmatched({ db, lane }), isSettled),
    loop('count-coverage', PRUNE_PAUSE_MS, async () => core.metrics.setCoverage(await countCoverage(db))),
    loop('fill-known-merchants', FILL_PAUSE_MS, makeKnownMerchantsBackfill({ pool, log })),
    loop('prune-webhooks', PRUNE_PAUSE_MS, () => pruneOldWebhooks(webhooks_db), isSettled),
    loop('prune-sign-ins', PRUNE_PAUSE_MS, () => pruneOldSignIns(db), isSettled),
    loop('sweep-counters', PRUNE_PAUSE_MS, () => sweepOldCounters(db), isSettled),
    loop('sign-checkpoints', SIGN_PAUSE_MS, core.signer.round, believed),
    loop('connect-slack', SLACK_PAUSE_MS, slack.round),
  ];
  if (mailer !== null) {
    const links = makeLinkTokens(core.secrets.macs('link'));
    loops.push(loop('send-digests', DIGEST_PAUSE_MS, makeSendDigests({ db, lane }), believed));
    loops.push(
      loop('send-emails', MAIL_PAUSE_MS, makeSendEmails({ db, links, log, mailer, site }), believed),
    );
  }
  if (of_requests !== null) {
    const { key_uses, rewrapping, sessions, second_opinion } = of_requests;
    loops.push(
      loop('note-key-uses', KEY_USES_PAUSE_MS, key_uses.flush, believed),
      loop('rewrap-keys', KEY_USES_PAUSE_MS, rewrapping.flush, believed),
      loop('note-session-uses', KEY_USES_PAUSE_MS, () => sessions.flush()),
    );
    if (second_opinion !== null) {
      const { flushUsage: round } = second_opinion;
      loops.push(loop('note-model-usage', MODEL_USAGE_PAUSE_MS, round));
    }
  }
  for (const { name, idleSeconds } of loops) core.metrics.watchWorker(name, idleSeconds);
  return {
    async stop() {
      await Promise.all([delivery.stop(), ...loops.map((each) => each.stop())]);
      await slack.stop();
    },
  };
}
