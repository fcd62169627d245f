import { makeCreateReview } from '../../engine/commands/reviews/create-review.ts';
import type { Config } from '../config/config.ts';
import type { Core } from '../installation/runtime.ts';
import type { Site } from '../people/site.ts';
import type { MakeSender } from '../webhook-delivery/sender.ts';
import { makeSlackCodes, type SlackCodes } from './codes.ts';
import { SlackConnections } from './connections.ts';
import { Interactions } from './interactions.ts';
import { makeSlackApi } from './slack-api.ts';
import { makeSlackAppSender } from './slack-sender.ts';

/** The codes of an installation by which people link their account in Slack. `newCode`: 20 random bytes, base64url. */
export const slackCodesOf = (
  { db, secrets }: Pick<Core, 'db' | 'secrets'>,
  newCode: () => string,
): SlackCodes => makeSlackCodes({ db, macs: secrets.macs('slack-code'), newCode });

/** The apps of Slack, as a worker runs them. */
export interface SlackParts {
  /** Sends notices to channels of the type `slack_app`. */
  sender: MakeSender;
  /** Connects what is to be connected by this worker. */
  round(): Promise<void>;
  stop(): Promise<void>;
}

/** Makes them. Nothing is connected before the first round. `worker` names this worker among all that share the database. */
export function makeSlackParts(
  core: Core,
  config: Pick<Config, 'slack_api_url' | 'capability_ttl_seconds'>,
  site: Site,
  random: { worker: string; newCode: () => string },
): SlackParts {
  const { db, webhooks_db, lane, secrets, log } = core;
  const api = makeSlackApi(config.slack_api_url);
  const openSecret = secrets.openWebhookSecret;
  const interactions = new Interactions({
    db,
    lane,
    api,
    createReview: makeCreateReview(config),
    codes: slackCodesOf(core, random.newCode),
    openSecret,
    consoleUrl: (path) => site.consoleUrl(path),
    publicUrl: () => site.origin(),
    log,
  });
  const connections = new SlackConnections({
    db: webhooks_db,
    api,
    worker: random.worker,
    openSecret,
    onInteraction: (payload, app_token) => interactions.handle(payload, app_token),
    log,
  });
  return {
    sender: makeSlackAppSender(api),
    round: () => connections.round(),
    async stop() {
      await connections.stop();
      await api.close();
    },
  };
}
