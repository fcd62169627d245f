import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  findRunningEmbeddedPostgres,
  readPostmasterFile,
  SUPERUSER,
  untilPostgresIsGone,
} from '@purser/embedded-postgres';
import { prepareFirstWorkspace } from '../bench/workspaces.ts';
import { type JsonClient, makeJsonClient } from '../demo/json-client.ts';
import {
  freePort,
  makeDataDirectory,
  type ServeProcess,
  serviceEnvironment,
  startServing,
} from '../demo/purser-process.ts';
import type { DatabaseReader } from './invariants.ts';
import { makeRecorder, type Recorder } from './recorder.ts';

/** What every scenario is given. */
export interface ScenarioContext {
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
  /** Waits, or throws the signal's reason as soon as that is aborted. */
  wait: (time_ms: number) => Promise<void>;
  random: () => number;
  say: (line: string) => void;
  /** From 0 to 1: how much of the full number of rounds is run. */
  share: number;
  /** The floods of `noisy-neighbour` that are run. */
  floods: readonly string[];
}

/** What a scenario found. */
export interface Finding {
  /** What was done, and what was measured. */
  figures: Record<string, number | string>;
  /** What did not hold. */
  problems: string[];
  /** Why it could not be run here. */
  skipped?: string;
}

/** A service on a data directory and a port that stay the same when it is started again. */
export interface Stage {
  data_dir: string;
  output_file: string;
  admin_key: string;
  env: Record<string, string | undefined>;
  base_url: string;
  agents: { agent: string; agent_key: string }[];
  client: JsonClient;
  /** The one that runs now. */
  serving: ServeProcess;
  /** Starts it again after it ended. */
  restart(): Promise<void>;
  /** Clients of this service, or of wherever `baseUrl` says. */
  makeRecorder(clients: number, baseUrl?: () => string): Recorder;
  /** The embedded PostgreSQL behind the service's back. */
  database(): Promise<DatabaseReader>;
  /** The process of the embedded PostgreSQL. */
  postgresPid(): Promise<number>;
  close(): Promise<void>;
}

/** An endpoint that wants to hear of decisions and never answers. */
const NOBODY = 'http://127.0.0.1:9/';
const AGENTS = 3;
/** Longer than the service's own deadline of five seconds for a batch, its retries included. */
export const PATIENCE_MS = 10_000;

/** A spend that the agents of `makeAgents` and of the bench may make, asked for with a key of the agent's own. Minor units. */
export const spend = (amount_minor: number) => ({
  action: {
    type: 'purchase',
    merchant: 'Chainline Tools',
    amount_minor,
    currency: 'EUR',
    description: 'tools for the bicycle workshop: cone spanners, torque keys',
  },
});

/** Makes agents whose budget has no limit worth mentioning in the first workspace, each with a key of its own. */
export async function makeAgents(
  base_url: string,
  admin_key: string,
): Promise<{ agent: string; agent_key: string }[]> {
  const workspace = await prepareFirstWorkspace({ base_url, admin_key }, AGENTS);
  workspace.client.close();
  return workspace.targets.map(({ agent_key }, i) => ({ agent: `workshop-${i + 1}`, agent_key }));
}

/** Starts a service with agents whose budget has no limit. `settings` are laid over the environment. */
export async function makeStage(
  context: ScenarioContext,
  settings: Record<string, string> = {},
  data_dir_given?: string,
): Promise<Stage> {
  const data_dir = data_dir_given ?? (await makeDataDirectory(true));
  const admin_key = `sk_${randomBytes(24).toString('hex')}`;
  const env = serviceEnvironment(context.env, [], {
    DATA_DIR: data_dir,
    BOOTSTRAP_ADMIN_KEY: admin_key,
    BOOTSTRAP_PLAN: 'team',
    RATE_LIMIT_PER_MINUTE: '10000000',
    // Nobody listens at the endpoint below, and a first attempt is enough.
    WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
    WEBHOOK_RETRY_FIRST_MS: '3600000',
    WEBHOOK_RETRY_MAX_MS: '3600000',
    ...settings,
    PORT: String(await freePort()),
  });
  const output_file = join(data_dir, 'output.log');
  const start = () => startServing({ env, output_file, signal: context.signal });
  const own = { data_dir, output_file, admin_key, env, is_temporary: data_dir_given === undefined };
  const stage = new OwnStage(own, start, await start());
  try {
    stage.agents = await makeAgents(stage.base_url, admin_key);
    await stage.client.send('POST', '/v1/webhooks', { url: NOBODY, events: ['decision.created'] });
    return stage;
  } catch (error) {
    await stage.close();
    throw error;
  }
}

class OwnStage implements Stage {
  readonly data_dir: string;
  readonly output_file: string;
  readonly admin_key: string;
  readonly env: Stage['env'];
  readonly base_url: string;
  readonly client: JsonClient;
  agents: Stage['agents'] = [];
  serving: ServeProcess;
  readonly #start: () => Promise<ServeProcess>;
  readonly #is_temporary: boolean;
  readonly #run_id = randomBytes(6).toString('hex');
  readonly #recorders: Recorder[] = [];

  constructor(
    own: Pick<Stage, 'data_dir' | 'output_file' | 'admin_key' | 'env'> & { is_temporary: boolean },
    start: () => Promise<ServeProcess>,
    serving: ServeProcess,
  ) {
    this.data_dir = own.data_dir;
    this.output_file = own.output_file;
    this.admin_key = own.admin_key;
    this.env = own.env;
    this.base_url = `http://127.0.0.1:${own.env.PORT}`;
    this.client = makeJsonClient(this.base_url, own.admin_key);
    this.serving = serving;
    this.#start = start;
    this.#is_temporary = own.is_temporary;
  }

  async restart(): Promise<void> {
    this.serving = await this.#start();
  }

  makeRecorder(clients: number, baseUrl = () => this.base_url): Recorder {
    const recorder = makeRecorder({
      baseUrl,
      agents: this.agents,
      run_id: `${this.#run_id}-${this.#recorders.length}`,
      clients,
      patience_ms: PATIENCE_MS,
    });
    this.#recorders.push(recorder);
    return recorder;
  }

  async database(): Promise<DatabaseReader> {
    const found = await findRunningEmbeddedPostgres(this.data_dir);
    if (found === null) throw new Error('The embedded PostgreSQL was not found.');
    return { ...found, user: SUPERUSER.user };
  }

  async postgresPid(): Promise<number> {
    const file = await readPostmasterFile(join(this.data_dir, 'postgres'));
    if (file === null) throw new Error('The embedded PostgreSQL was not found.');
    return file.pid;
  }

  async close(): Promise<void> {
    this.client.close();
    await this.serving.end();
    // Clients that a failed scenario left asking would keep the program alive.
    for (const recorder of this.#recorders) await recorder.stop();
    await untilPostgresIsGone(this.data_dir);
    if (this.#is_temporary) await rm(this.data_dir, { recursive: true, force: true, maxRetries: 5 });
  }
}
