import { REASON_CODES, type ReasonCode } from '@purser/contract/reasons';
import { MODES } from '@purser/contract/values/agents';
import { CHANNEL_TYPES, NOTICE_STATUSES } from '@purser/contract/values/channels';
import { DECISIONS } from '@purser/contract/values/decisions';
import { MAIL_RESULTS, type MailResult } from '@purser/contract/values/mail';
import { ATTEMPT_STATUSES } from '@purser/contract/values/webhooks';
import type { Mode } from '@purser/rules/domain/agents';
import type { DecisionKind } from '@purser/rules/domain/decisions';
import type { AttemptStatus } from '@purser/rules/domain/webhooks';
import { REFUSAL_REASONS, type RefusalReason } from '@purser/rules/errors';
import {
  type Aggregator,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client';
import type { WatchedNode } from '../../engine/distribution/node-watch.ts';
import { FOLLOWERS, type SkippedEvents } from '../../engine/followers/follower-names.ts';
import {
  NO_OPINION,
  type NoOpinion,
  OPINION_EFFECTS,
  type OpinionEffect,
} from '../model-judge/second-opinion.ts';
import type { ModelConsumption } from '../model-judge/usage.ts';
import { type HistoryMetrics, makeHistoryMetrics } from './history-metrics.ts';

/** The metrics of the process, in the form that Prometheus reads. */
export interface Metrics extends HistoryMetrics {
  /** `route` is the pattern (`/v1/agents/:id`), never the path, so that clients cannot grow the labels. */
  countRequest(method: string, route: string, status: number, duration_ms: number): void;
  countDecision(decision: DecisionKind, mode: Mode, reason_code: ReasonCode): void;
  /** Counts a request that the service turned away. */
  countRefusal(reason: RefusalReason): void;
  countWebhookAttempt(status: AttemptStatus): void;
  /** Counts an attempt to send a notice, or one that became obsolete before it was sent. */
  countNotice(receiver: string, status: string): void;
  /** Counts an attempt to send a mail. */
  countMail(result: MailResult): void;
  /** Counts a committed batch of the lane: its number of commands and the duration of its transaction. */
  observeBatch(commands: number, commit_ms: number): void;
  /** Counts a call to the purpose model and its duration. */
  observeModelCall(outcome: string, duration_ms: number): void;
  /** Counts an opinion of the purpose model that was cached. */
  countModelCacheHit(): void;
  /** Counts tokens and money that calls to the purpose model came to. `currency` null: no prices are set. */
  countModelUsage(workspace_id: string, currency: string | null, used: ModelConsumption): void;
  /** Counts the effect of the purpose model on the assessment of one spend, or the reason why it had none. */
  countSecondOpinion(result: OpinionEffect | NoOpinion): void;
  /** Sets the function that returns the value of a gauge. It is called at each scrape. */
  watch(gauge: PlainGauge, read: () => number): void;
  /** The same for the seconds since a worker's last round. */
  watchWorker(worker: string, idleSeconds: () => number): void;
  /** Counts an attempt of the lane to write that failed. `state` is the SQLSTATE; undefined: the database gave none. */
  countLaneFailure(state: string | undefined): void;
  /** Adds a bounded resource with the function that returns how much of it is in use. It is called at each scrape. */
  watchUse(resource: string, total: number, inUse: () => number): void;
  /** Sets the function that returns the nodes of a distributed database. */
  watchNodes(read: () => readonly WatchedNode[]): void;
  /** Sets how many events each follower of the chain has skipped, as the table says. */
  setSkippedEvents(skipped: SkippedEvents): void;
  /** Returns the text of `GET /metrics`, of this process. */
  text(): Promise<string>;
  /** Returns the same for `AggregatorRegistry.aggregate`, which adds up what several processes count. */
  values(): Promise<MetricObjectWithValues<MetricValue<string>>[]>;
  content_type: string;
}

/**
 * Gauges of one value. Where several processes serve, their values are added up, or the largest or smallest is shown.
 */
const PLAIN_GAUGES = {
  purser_lane_waiting_commands: { help: 'Commands waiting for a batch.', aggregator: 'sum' },
  purser_lane_last_commit_seconds: {
    help: 'Seconds since a process last wrote to the database. Without other writes, a probe writes every 30 s.',
    aggregator: 'max',
  },
  purser_checkpoints_failing: {
    help: 'Workspaces whose newest checkpoint could not be signed or written to its file.',
    aggregator: 'max',
  },
  purser_webhook_endpoints_disabled: {
    help: 'Webhook endpoints that were disabled because deliveries kept failing.',
    aggregator: 'max',
  },
  purser_channels_failing: {
    help: 'Channels that are failing, or that were disabled because they failed or are gone.',
    aggregator: 'max',
  },
  purser_histories_invalid: {
    help: 'Workspaces whose last ledger verification failed.',
    aggregator: 'max',
  },
  purser_clock_in_doubt: {
    help: "1 while the database's clock has jumped and writes are refused, else 0.",
    aggregator: 'max',
  },
  purser_clock_ahead_seconds: {
    help: "Seconds by which the newest batch is ahead of the database's clock, because it was written while that clock was wrong.",
    aggregator: 'max',
  },
  purser_disk_free_bytes: {
    help: 'Free space on the file system of DATA_DIR, which holds the embedded PostgreSQL.',
    aggregator: 'min',
  },
  purser_disk_size_bytes: { help: 'Size of the file system of DATA_DIR.', aggregator: 'max' },
} as const satisfies Record<string, { help: string; aggregator: Aggregator }>;
type PlainGauge = keyof typeof PLAIN_GAUGES;

/** Counted by the primary, the only one that sees it; a process alone reports 0. */
export const RESTARTS = {
  name: 'purser_process_restarts_total',
  help: 'Processes of the service that ended unexpectedly and were restarted.',
} as const;

/** SQLSTATE classes that a failing database answers with. */
const SQLSTATE_CLASSES = ['08', '22', '23', '25', '28', '40', '42', '53', '55', '57', '58', 'XX'];
/** The class of a failure without an answer of the database: it could not be reached, or was silent. */
const NO_STATE = 'none';

/** Workspaces that are named in metrics; those beyond are counted together. */
const MAX_LABELLED_WORKSPACES = 500;

/** Makes the metrics of the process in a registry of their own. They are shown in the order in which they are made. */
export function makeMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return {
    ...makeRequestMetrics(registry),
    ...makeLaneMetrics(registry),
    ...makeHistoryMetrics(registry),
    ...makeModelMetrics(registry),
    ...makeFollowerMetrics(registry),
    ...makeGauges(registry),
    text: () => registry.metrics(),
    values: () => registry.getMetricsAsJSON(),
    content_type: registry.contentType,
  };
}

function makeRequestMetrics(registry: Registry) {
  const registers = [registry];
  const requests = new Histogram({
    name: 'purser_http_request_duration_seconds',
    help: "Time from a request's headers to its response.",
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const decisions = new Counter({
    name: 'purser_decisions_total',
    help: 'Decisions made; replays are not counted.',
    labelNames: ['decision', 'mode', 'reason_code'] as const,
    registers,
  });
  const refusals = new Counter({
    name: 'purser_refusals_total',
    help: 'Requests that the service refused, and connections that it closed, by reason.',
    labelNames: ['reason'] as const,
    registers,
  });
  const webhook_attempts = new Counter({
    name: 'purser_webhook_attempts_total',
    help: 'Attempts to deliver a webhook, by result.',
    labelNames: ['status'] as const,
    registers,
  });
  const notices = new Counter({
    name: 'purser_notices_total',
    help: 'Attempts to send a notice, by type of channel and result; OBSOLETE: there was nothing to say any more.',
    labelNames: ['channel', 'status'] as const,
    registers,
  });
  const mails = new Counter({
    name: 'purser_mails_total',
    help: 'Attempts to send a mail: sent, to be tried again, or refused for good.',
    labelNames: ['result'] as const,
    registers,
  });
  for (const result of MAIL_RESULTS) mails.inc({ result: result.toLowerCase() }, 0);
  for (const reason of Object.keys(REFUSAL_REASONS)) refusals.inc({ reason }, 0);
  for (const status of ATTEMPT_STATUSES) webhook_attempts.inc({ status }, 0);
  for (const channel of [...CHANNEL_TYPES, 'person']) {
    for (const status of NOTICE_STATUSES) notices.inc({ channel, status }, 0);
  }
  for (const decision of DECISIONS) {
    for (const mode of MODES) {
      for (const reason_code of REASON_CODES) decisions.inc({ decision, mode, reason_code }, 0);
    }
  }
  return {
    countRequest: (method, route, status, duration_ms) =>
      requests.observe({ method, route, status }, duration_ms / 1000),
    countDecision: (decision, mode, reason_code) => decisions.inc({ decision, mode, reason_code }),
    countRefusal: (reason) => refusals.inc({ reason }),
    countMail: (result) => mails.inc({ result: result.toLowerCase() }),
    countWebhookAttempt: (status) => webhook_attempts.inc({ status }),
    countNotice: (channel, status) => notices.inc({ channel, status }),
  } satisfies Partial<Metrics>;
}

function makeLaneMetrics(registry: Registry) {
  const registers = [registry];
  const failures = new Counter({
    name: 'purser_lane_failures_total',
    help: 'Failed writes of the lane, by SQLSTATE class; "none" if the database did not respond.',
    labelNames: ['sqlstate_class'] as const,
    registers,
  });
  for (const sqlstate_class of [...SQLSTATE_CLASSES, NO_STATE]) failures.inc({ sqlstate_class }, 0);
  const batch_sizes = new Histogram({
    name: 'purser_lane_batch_commands',
    help: 'Commands per transaction of a lane.',
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
    registers,
  });
  const commits = new Histogram({
    name: 'purser_lane_commit_duration_seconds',
    help: 'Time from the start of a batch to its commit.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers,
  });
  return {
    observeBatch(commands, commit_ms) {
      batch_sizes.observe(commands);
      commits.observe(commit_ms / 1000);
    },
    countLaneFailure: (state) => failures.inc({ sqlstate_class: state?.slice(0, 2) ?? NO_STATE }),
  } satisfies Partial<Metrics>;
}

function makeModelMetrics(registry: Registry) {
  const registers = [registry];
  const calls = new Histogram({
    name: 'purser_purpose_model_call_duration_seconds',
    help: 'Calls to the purpose model, by result.',
    labelNames: ['outcome'] as const,
    buckets: [0.05, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2.5, 5, 10],
    registers,
  });
  const cache_hits = new Counter({
    name: 'purser_purpose_model_cache_hits_total',
    help: 'Opinions of the purpose model served from the cache.',
    registers,
  });
  const tokens = new Counter({
    name: 'purser_purpose_model_tokens_total',
    help: 'Tokens of the purpose model, by workspace; "input" counts only uncached tokens.',
    labelNames: ['workspace_id', 'kind'] as const,
    registers,
  });
  const cost = new Counter({
    name: 'purser_purpose_model_cost_total',
    help: 'Cost of the purpose model at the configured prices, in units of the currency, by workspace.',
    labelNames: ['workspace_id', 'currency'] as const,
    registers,
  });
  const second_opinions = new Counter({
    name: 'purser_purpose_second_opinions_total',
    help: 'Spends that needed a second opinion, by its effect or the reason for its absence.',
    labelNames: ['result'] as const,
    registers,
  });
  for (const result of [...Object.keys(NO_OPINION), ...OPINION_EFFECTS]) second_opinions.inc({ result }, 0);
  const with_usage = new Set<string>();
  return {
    observeModelCall: (outcome, duration_ms) => calls.observe({ outcome }, duration_ms / 1000),
    countModelCacheHit: () => cache_hits.inc(),
    countModelUsage(id, currency, { input_tokens, cached_tokens, output_tokens, cost_micros }) {
      const workspace_id = with_usage.has(id) || with_usage.size < MAX_LABELLED_WORKSPACES ? id : 'others';
      with_usage.add(workspace_id);
      tokens.inc({ workspace_id, kind: 'input' }, Math.max(0, input_tokens - cached_tokens));
      tokens.inc({ workspace_id, kind: 'cached_input' }, cached_tokens);
      tokens.inc({ workspace_id, kind: 'output' }, output_tokens);
      if (currency !== null) cost.inc({ workspace_id, currency }, cost_micros / 1_000_000);
    },
    countSecondOpinion: (result) => second_opinions.inc({ result }),
  } satisfies Partial<Metrics>;
}

function makeFollowerMetrics(registry: Registry) {
  const skipped_events = new Gauge({
    name: 'purser_skipped_events',
    help: 'Events that a follower of the chain could not process and skipped, as listed in the table skipped_events.',
    labelNames: ['follower'] as const,
    aggregator: 'max',
    registers: [registry],
  });
  for (const follower of FOLLOWERS) skipped_events.set({ follower }, 0);
  return {
    setSkippedEvents(skipped) {
      for (const follower of FOLLOWERS) skipped_events.set({ follower }, skipped[follower]);
    },
  } satisfies Partial<Metrics>;
}

/** Makes the gauges whose values are read at each scrape. */
function makeGauges(registry: Registry) {
  const registers = [registry];
  const watched = new Map<PlainGauge, () => number>();
  const workers = new Map<string, () => number>();
  const uses = new Map<string, { total: number; inUse: () => number }>();
  let nodes: () => readonly WatchedNode[] = () => [];
  for (const [name, options] of Object.entries(PLAIN_GAUGES)) {
    new Gauge({
      name,
      ...options,
      registers,
      collect() {
        this.set(watched.get(name as PlainGauge)?.() ?? 0);
      },
    });
  }
  new Gauge({
    name: 'purser_worker_last_round_seconds',
    help: 'Seconds since the last successful round of a worker, or since its start.',
    labelNames: ['worker'] as const,
    aggregator: 'max',
    registers,
    collect() {
      for (const [worker, idleSeconds] of workers) this.set({ worker }, idleSeconds());
    },
  });
  new Gauge({
    name: 'purser_database_node_up',
    help: '1 while a node of a distributed database can be reached, else 0; without nodes on plain PostgreSQL.',
    labelNames: ['node'] as const,
    aggregator: 'min',
    registers,
    collect() {
      this.reset();
      for (const { node, reachable } of nodes()) this.set({ node }, reachable ? 1 : 0);
    },
  });
  new Counter({ ...RESTARTS, registers });
  new Gauge({
    name: 'purser_resource_in_use',
    help: 'Amount in use of each resource that requests share: database connections, writes and bodies in progress, and so on.',
    labelNames: ['resource'] as const,
    registers,
    collect() {
      for (const [resource, { inUse }] of uses) this.set({ resource }, inUse());
    },
  });
  new Gauge({
    name: 'purser_resource_limit',
    help: 'Capacity of each shared resource.',
    labelNames: ['resource'] as const,
    registers,
    collect() {
      for (const [resource, { total }] of uses) this.set({ resource }, total);
    },
  });
  return {
    watch: (gauge, read) => void watched.set(gauge, read),
    watchWorker: (worker, idleSeconds) => void workers.set(worker, idleSeconds),
    watchNodes(read) {
      nodes = read;
    },
    watchUse: (resource, total, inUse) => void uses.set(resource, { total, inUse }),
  } satisfies Partial<Metrics>;
}
