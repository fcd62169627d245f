import { createHmac, randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { makeBuiltInAssessor } from '@purser/rules/purpose/built-in-assessor';
import { makeDirectories } from '../../engine/directory/directories.ts';
import { addModelUsage } from '../../engine/storage/model-usage.ts';
import type { Config } from '../config/config.ts';
import type { PreAssess } from '../decisions/authorize-spend.ts';
import { makeLabelledExamples } from '../decisions/labelled-examples.ts';
import { makeModelPreAssess } from '../decisions/model-pre-assess.ts';
import { makeTrackRecords } from '../decisions/track-record.ts';
import { makeShares } from '../http/shares.ts';
import type { Core } from '../installation/runtime.ts';
import { addressFor, protocolFor } from '../model-judge/addresses.ts';
import { makeAskModel } from '../model-judge/ask-model.ts';
import { makeHedge } from '../model-judge/hedge.ts';
import { makeModelClient } from '../model-judge/model-client.ts';
import { startProbing } from '../model-judge/probe.ts';
import { makeUsageCounter } from '../model-judge/usage.ts';
import { makeWorkTime } from '../scheduling/work-time.ts';
import { ASSESS_SHARE } from './shared-resources.ts';

/** The shares of the calls to the model that one workspace may use, and one agent of it; the rest is left to the others. */
const WORKSPACE_SHARE = 0.75;
const AGENT_SHARE = 0.5;
/** The most spends that wait for each call in progress. Any more go on without an opinion at once. */
const WAITING_PER_PLACE = 4;
/** How long the start waits for the probe: long enough for a model that works, too short to hold up a start without one. */
const PROBE_WAIT_MS = 2_000;

/** The model that gives opinions on purpose. */
export interface SecondOpinion {
  preAssess: PreAssess;
  /** Resolves when the probe has said whether the model works, or after two seconds. */
  probed: Promise<void>;
  /** Keeps what was used of the model. Never rejects. */
  flushUsage(): Promise<void>;
  /** Ends the questions under way; what they were asked for goes on without an opinion. */
  stop(): Promise<void>;
}

/** Resolves after a time, or at once when the signal is aborted. */
const wait = (wait_ms: number, signal: AbortSignal): Promise<void> =>
  pause(wait_ms, undefined, { signal }).catch(() => undefined);

/** Makes the model that gives second opinions on purpose. Returns null if none is configured. */
export function makeSecondOpinion(core: Core, config: Config): SecondOpinion | null {
  const { purpose_model_url: url, purpose_model: model, purpose_model_api_key: api_key } = config;
  if (url === null || model === null) return null;
  const { db, log, metrics, now_ms, presence } = core;
  const parameters = config.purpose_model_parameters;
  const timeout_ms = config.purpose_model_timeout_ms;
  const max_concurrent = config.purpose_model_max_concurrent;
  const places = makeShares({
    resource: 'purpose_model_calls',
    total: max_concurrent,
    workspace_share: WORKSPACE_SHARE,
    key_share: AGENT_SHARE,
    max_waiting: max_concurrent * WAITING_PER_PLACE,
    max_wait_ms: timeout_ms,
  });
  metrics.watchUse(places.resource, places.total, places.inUse);
  const holderOf = (asker: { workspace_id: string; agent_id: string }) => ({
    workspace_id: asker.workspace_id,
    key_id: asker.agent_id,
  });
  const protocol = protocolFor(url, config.purpose_model_protocol);
  const clock_ms = () => Date.now();
  const client = makeModelClient({
    address: addressFor(url, protocol),
    protocol,
    api_key,
    connections: max_concurrent,
    connect_ms: timeout_ms,
    clock_ms,
  });
  const prices = config.purpose_model_prices;
  const usage = makeUsageCounter({
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
  const stopping = new AbortController();
  const newNonce = () => randomBytes(16).toString('hex');
  const code_key = randomBytes(32);
  const probing = startProbing({ client, model, parameters, timeout_ms, newNonce, now_ms, log });
  const askModel = makeAskModel({
    client,
    hedge: makeHedge({
      now_ms,
      wait: (wait_ms, signal) => wait(wait_ms, AbortSignal.any([signal, stopping.signal])),
    }),
    model,
    parameters,
    form: probing.form,
    onFormRefused: probing.noteRefused,
    api_key,
    timeout_ms,
    takePlace: (asker) => places.take(holderOf(asker)),
    tryPlace: (asker) => places.tryTake(holderOf(asker)),
    usage,
    newNonce,
    codeOf: (hash) => createHmac('sha256', code_key).update(hash).digest('hex').slice(0, 32),
    now_ms,
    wait: (wait_ms) => wait(wait_ms, stopping.signal),
    log,
    metrics,
  });
  const preAssess = makeModelPreAssess({
    clock_ms,
    db,
    assess: makeBuiltInAssessor(config.purpose_merchants_file ?? []),
    historyOf: makeTrackRecords(core),
    directoryOf: makeDirectories(core.db),
    examplesOf: makeLabelledExamples({ db: core.lists_db, now_ms }),
    assess_time: makeWorkTime({
      reason: 'assessments_time',
      share: ASSESS_SHARE,
      now_ms,
      isAlone: (id) => presence.isAlone(id),
    }),
    askModel,
    model,
    may_clear: config.purpose_model_may_clear,
    is_required: config.purpose_model_required,
    metrics,
  });
  const waited = new AbortController();
  void probing.first.then(() => waited.abort());
  return {
    preAssess,
    probed: wait(PROBE_WAIT_MS, waited.signal),
    flushUsage: usage.flush,
    async stop() {
      stopping.abort();
      waited.abort();
      await client.stop();
    },
  };
}
