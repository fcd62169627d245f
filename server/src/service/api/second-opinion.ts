import { createHmac, randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { makeBuiltInAssessor } from '@purser/rules/purpose/built-in-assessor';
import { makeAnswers, makeDirectories } from '../../engine/directory/directories.ts';
import { addModelUsage } from '../../engine/storage/model-usage.ts';
import type { Config } from '../config/config.ts';
import type { PreAssess } from '../decisions/authorize-spend.ts';
import { makeLabelledExamples } from '../decisions/labelled-examples.ts';
import { makeModelPreAssess } from '../decisions/model-pre-assess.ts';
import { makeTrackRecords } from '../decisions/track-record.ts';
import type { Core } from '../installation/runtime.ts';
import { addressFor, protocolFor } from '../model-judge/addresses.ts';
import { makeAskModel } from '../model-judge/ask-model.ts';
import { makeHedge } from '../model-judge/hedge.ts';
import { type ModelClient, makeModelClient } from '../model-judge/model-client.ts';
import { DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS, makePace, type Pace, type Terms } from '../model-judge/pace.ts';
import { startProbing } from '../model-judge/probe.ts';
import type { Asker, AskModel } from '../model-judge/second-opinion.ts';
import { UsageCounter } from '../model-judge/usage.ts';
import { Order } from '../scheduling/fair-queue.ts';
import { Places } from '../scheduling/places.ts';

/** The shares of the calls to the model that one workspace may use, and one agent of it; the rest is left to the others. */
const WORKSPACE_SHARE = 0.75;
const AGENT_SHARE = 0.5;
/** The most spends that wait for each call in progress. Any more go on without an opinion at once. */
const WAITING_PER_PLACE = 4;
/** No spend waits longer for its turn, ms; the terms of most say less. */
const MAX_WAIT_MS = 60_000;
/** How long the start waits for the probe: long enough for a model that works, too short to hold up a start without one. */
const PROBE_WAIT_MS = 2_000;

/** The model that gives opinions on purpose. */
export interface SecondOpinion {
  preAssess: PreAssess;
  /** The longest time that a spend may wait for its turn and its opinion, ms. */
  longest_ms: number;
  /** Resolves when the probe has said whether the model works, or after two seconds. */
  probed: Promise<void>;
  /** Keeps what was used of the model. Never rejects. */
  flushUsage(): Promise<void>;
  /** Ends the questions under way; what they were asked for goes on without an opinion. */
  stop(): Promise<void>;
}

const clock_ms = () => Date.now();

/** Resolves after a time, or at once when the signal is aborted. */
const wait = (wait_ms: number, signal: AbortSignal): Promise<void> =>
  pause(wait_ms, undefined, { signal }).catch(() => undefined);

/** The calls to the model that may be in progress at a time, which workspaces and agents share. */
function makePlaces({ metrics }: Core, config: Config) {
  const placesFor = (total: number, of_all: number) =>
    new Places({
      resource: 'purpose_model_calls',
      total,
      share: WORKSPACE_SHARE,
      key_share: AGENT_SHARE,
      order: new Order({ max_waiting: { of_workspace: Math.ceil(of_all * WORKSPACE_SHARE), of_all } }),
      max_wait_ms: MAX_WAIT_MS,
    });
  const max_concurrent = config.purpose_model_max_concurrent;
  const places = placesFor(max_concurrent, max_concurrent * WAITING_PER_PLACE);
  /** The place of an endpoint that answers one call at a time. */
  const single = placesFor(1, max_concurrent);
  metrics.watchUse(places.resource, places.total, () => places.inUse() + single.inUse());
  const holderOf = ({ workspace_id, agent_id }: Asker) => ({ workspace_id, key_id: agent_id });
  return {
    takePlace: (asker: Asker, { one_at_a_time, wait_ms }: Terms) =>
      (one_at_a_time ? single : places).take(holderOf(asker), AbortSignal.timeout(wait_ms)),
    tryPlace: (asker: Asker) => places.tryTake(holderOf(asker)),
  };
}

function makeClient(url: string, config: Config): ModelClient {
  const protocol = protocolFor(url, config.purpose_model_protocol);
  return makeModelClient({
    address: addressFor(url, protocol),
    protocol,
    api_key: config.purpose_model_api_key,
    connections: config.purpose_model_max_concurrent,
    connect_ms: config.purpose_model_timeout_ms ?? DEFAULT_TIMEOUT_MS,
    clock_ms,
  });
}

function makeUsage({ db, metrics, log }: Core, config: Config): UsageCounter {
  const prices = config.purpose_model_prices;
  return new UsageCounter({
    prices,
    limit: config.purpose_model_daily_limit,
    store: {
      async add(rows) {
        const currency = prices?.currency ?? '';
        const kept = await addModelUsage(
          db,
          rows.map(({ workspace_id, day, used }) => ({ workspace_id, day, currency, ...used })),
        );
        return rows.map(({ workspace_id, day }) =>
          kept.find((row) => row.workspace_id === workspace_id && row.day === day),
        );
      },
    },
    now: () => new Date(clock_ms()).toISOString(),
    onUse: (workspace_id, used) => metrics.countModelUsage(workspace_id, prices?.currency ?? null, used),
    log,
  });
}

/** Probes the model, and makes the function that asks it. The signal ends every wait. */
function makeAsking(
  core: Core,
  config: Config,
  {
    client,
    model,
    usage,
    stopping,
  }: {
    client: ModelClient;
    model: string;
    usage: UsageCounter;
    stopping: AbortSignal;
  },
) {
  const { log, metrics, now_ms } = core;
  const { purpose_model_preset: preset, purpose_model_timeout_ms } = config;
  const timeout_ms = purpose_model_timeout_ms ?? DEFAULT_TIMEOUT_MS;
  const parameters = config.purpose_model_parameters;
  const newNonce = () => randomBytes(16).toString('hex');
  const code_key = randomBytes(32);
  const waitHere = (wait_ms: number) => wait(wait_ms, stopping);
  const probing = startProbing({
    client,
    model,
    parameters,
    timeout_ms,
    newNonce,
    now_ms,
    log,
    is_patient: mayBeLocal(config),
    wait: waitHere,
  });
  const pace = makePace({ preset, timeout_ms: purpose_model_timeout_ms, probing, wait: waitHere });
  const askModel = makeAskModel({
    client,
    hedge: makeHedge({
      now_ms,
      wait: (wait_ms, signal) => wait(wait_ms, AbortSignal.any([signal, stopping])),
    }),
    model,
    parameters,
    form: probing.form,
    onFormRefused: probing.noteRefused,
    api_key: config.purpose_model_api_key,
    termsOf: pace.termsOf,
    ...makePlaces(core, config),
    usage,
    newNonce,
    codeOf: (hash) => createHmac('sha256', code_key).update(hash).digest('hex').slice(0, 32),
    now_ms,
    wait: waitHere,
    log,
    metrics,
  });
  return { askModel, pace, first_probe: probing.first };
}

function makePreAssess(
  core: Core,
  config: Config,
  model: string,
  { askModel, pace }: { askModel: AskModel; pace: Pace },
): PreAssess {
  const { db, lists_db, now_ms, turns, metrics } = core;
  return makeModelPreAssess({
    clock_ms,
    db,
    assess: makeBuiltInAssessor(config.purpose_merchants_file ?? []),
    historyOf: makeTrackRecords(core),
    directoryOf: makeDirectories(db),
    answersOf: makeAnswers(db),
    examplesOf: makeLabelledExamples({ db: lists_db, now_ms }),
    turns,
    askModel,
    isLocal: pace.isLocal,
    model,
    may_clear: config.purpose_model_may_clear,
    is_required: config.purpose_model_required,
    metrics,
  });
}

/** True if the model's own pace may set the terms: the operator says that it is local, or says nothing of its time. */
const mayBeLocal = ({ purpose_model_preset: preset, purpose_model_timeout_ms }: Config): boolean =>
  preset === 'local' || (preset === 'auto' && purpose_model_timeout_ms === null);

/** The longest time that a spend waits: for its turn and the answer, and for a local model to start. */
function longestMs(config: Config): number {
  const timeout_ms = config.purpose_model_timeout_ms ?? DEFAULT_TIMEOUT_MS;
  return mayBeLocal(config) ? 3 * Math.max(timeout_ms, MAX_TIMEOUT_MS) : 2 * timeout_ms;
}

/** Makes the model that gives second opinions on purpose. Returns null if none is configured. */
export function makeSecondOpinion(core: Core, config: Config): SecondOpinion | null {
  const { purpose_model_url: url, purpose_model: model } = config;
  if (url === null || model === null) return null;
  const stopping = new AbortController();
  const client = makeClient(url, config);
  const usage = makeUsage(core, config);
  const asking = makeAsking(core, config, { client, model, usage, stopping: stopping.signal });
  const waited = new AbortController();
  void asking.first_probe.then(() => waited.abort());
  return {
    preAssess: makePreAssess(core, config, model, asking),
    longest_ms: longestMs(config),
    probed: wait(PROBE_WAIT_MS, waited.signal),
    flushUsage: () => usage.flush(),
    async stop() {
      stopping.abort();
      waited.abort();
      await client.stop();
    },
  };
}
