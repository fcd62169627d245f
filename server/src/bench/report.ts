import { type Cell, renderTable } from '../demo/table.ts';
import type { Percentiles } from '../demo/totals.ts';
import type { MemorySample } from './memory.ts';
import { type Reading, renderReading } from './reading.ts';
import type { WebhookFigures } from './webhooks.ts';

export const TARGET_CLIENTS = 64;
export const TARGET_DECISIONS = 100_000;
/** Events a second that a verification has to reach. */
export const TARGET_VERIFIED = 50_000;
export const TARGET_RSS_BYTES = 200 * 1000 * 1000;
export const TARGET_DELIVERIES_PER_SECOND = 1_500;

/** One measurement. */
export interface Point {
  clients: number;
  workspaces: number;
  per_second: number;
  latency_ms: Percentiles;
  /** Of the service's Node process, right after. */
  rss_bytes: number;
  /** Decisions made since the service was started. */
  decisions_so_far: number;
  errors: Record<string, number>;
}

/** Everything measured; what `--json` writes. */
export interface BenchReport {
  machine: { cpus: number; cpu: string; memory_bytes: number; node: string; data_dir: string };
  seconds: number;
  tpcb: { method: string; clients: number; before_tps: number; after_tps: number; mean_tps: number };
  lone_insert_ms: Percentiles;
  webhooks: WebhookFigures;
  points: Point[];
  memory: { decisions: number; rss_bytes: number; peak_rss_bytes: number; samples: MemorySample[] };
  /** Of the first workspace's whole history, over HTTP. Memory: of the service's Node process, at most. */
  verification: { events: number; duration_ms: number; per_second: number; rss_bytes: number };
  decisions: { ALLOW: number; REVIEW: number; DENY: number };
  created: number;
  reading: Reading;
  errors: Record<string, number>;
  /** What does not hold. Empty: every answered decision is in its ledger, once, and every ledger is valid. */
  problems: string[];
}

/** Bytes as whole megabytes, for people. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(0)} MB`;
}

function rate(per_second: number): string {
  return per_second < 100 ? per_second.toFixed(1) : per_second.toFixed(0);
}

function milliseconds(time_ms: number): string {
  return time_ms.toFixed(time_ms < 10 ? 2 : 1);
}

/** The name of a point: "64 clients, 1 workspace". */
export function pointName({ clients, workspaces }: { clients: number; workspaces: number }): string {
  return `${clients} client${clients === 1 ? '' : 's'}, ${workspaces} workspace${workspaces === 1 ? '' : 's'}`;
}

function pointRow(point: Point, mean_tps: number): Cell[] {
  const ratio = point.per_second / mean_tps;
  const errors = Object.values(point.errors).reduce((sum, count) => sum + count, 0);
  return [
    { text: pointName(point) },
    { text: rate(point.per_second) },
    { text: milliseconds(point.latency_ms.p50) },
    { text: milliseconds(point.latency_ms.p95) },
    { text: milliseconds(point.latency_ms.p99) },
    { text: `${ratio.toFixed(2)} x`, style: ratio >= 1 ? 'green' : 'yellow' },
    { text: megabytes(point.rss_bytes) },
    errors === 0 ? { text: '0' } : { text: String(errors), style: 'red' },
  ];
}

/** At most `count` samples at even distances, the last one among them. */
function spread(samples: readonly MemorySample[], count: number): MemorySample[] {
  if (samples.length <= count) return [...samples];
  return Array.from(
    { length: count },
    (_, index) => samples[Math.round((index * (samples.length - 1)) / (count - 1))] as MemorySample,
  );
}

function verdict(is_reached: boolean): string {
  return is_reached ? 'reached' : 'NOT reached';
}

/** The report for people. */
export function renderBench(report: BenchReport, screen: { width: number; has_colour: boolean }): string[] {
  const { tpcb, lone_insert_ms, webhooks, memory, decisions, machine, verification } = report;
  const right = (title: string) => ({ title, align: 'right' as const });
  const table = renderTable(
    [
      { title: 'POINT' },
      right('DECISIONS/S'),
      right('P50 MS'),
      right('P95 MS'),
      right('P99 MS'),
      right('TO TPC-B'),
      right('RSS'),
      right('ERRORS'),
    ],
    report.points.map((point) => pointRow(point, tpcb.mean_tps)),
    screen,
  );
  const target = report.points.find(
    ({ clients, workspaces }) => clients === TARGET_CLIENTS && workspaces === 1,
  );
  const timeline = spread(memory.samples, 10)
    .map(({ at_ms, rss_bytes }) => `${(at_ms / 1000).toFixed(0)} s ${megabytes(rss_bytes)}`)
    .join(', ');
  const has_memory_run = memory.decisions >= TARGET_DECISIONS;
  return [
    `${machine.cpus} x ${machine.cpu}, ${megabytes(machine.memory_bytes)}, Node ${machine.node}; ${report.seconds} s a point`,
    '',
    ...table,
    '',
    `TPC-B: ${tpcb.method}`,
    `  before ${rate(tpcb.before_tps)}/s, after ${rate(tpcb.after_tps)}/s, mean ${rate(tpcb.mean_tps)}/s`,
    `One committed insert, one client, on the socket: p50 ${milliseconds(lone_insert_ms.p50)} ms, p99 ${milliseconds(lone_insert_ms.p99)} ms`,
    `Webhooks: ${webhooks.deliveries} deliveries to a local receiver at ${rate(webhooks.deliveries_per_second)}/s`,
    `  decisions with ${webhooks.clients} clients: ${rate(webhooks.without.per_second)}/s without endpoints (p50 ${milliseconds(webhooks.without.p50_ms)} ms), ${rate(webhooks.with.per_second)}/s with ${webhooks.endpoints} (p50 ${milliseconds(webhooks.with.p50_ms)} ms), deliveries beside`,
    `Memory of the Node process over time: ${timeline}`,
    `  after ${memory.decisions} decisions ${megabytes(memory.rss_bytes)}, at most ${megabytes(memory.peak_rss_bytes)}`,
    `Verification: ${verification.events} events in ${(verification.duration_ms / 1000).toFixed(1)} s, ${rate(verification.per_second)}/s, memory at most ${megabytes(verification.rss_bytes)}`,
    `Decisions: ${report.created} answered 201; ${decisions.ALLOW} ALLOW, ${decisions.REVIEW} REVIEW, ${decisions.DENY} DENY`,
    ...renderReading(report.reading),
    ...Object.entries(report.errors).map(([what, count]) => `Error: ${what}, ${count} times`),
    '',
    ...(target === undefined
      ? []
      : [
          `The rate of TPC-B with ${TARGET_CLIENTS} clients on one workspace: ${verdict(target.per_second >= tpcb.mean_tps)} (${(target.per_second / tpcb.mean_tps).toFixed(2)} x).`,
        ]),
    `${TARGET_DELIVERIES_PER_SECOND} deliveries a second: ${verdict(webhooks.deliveries_per_second >= TARGET_DELIVERIES_PER_SECOND)} (${rate(webhooks.deliveries_per_second)}/s).`,
    has_memory_run
      ? `Under ${megabytes(TARGET_RSS_BYTES)} after ${TARGET_DECISIONS} decisions: ${verdict(memory.rss_bytes < TARGET_RSS_BYTES)} (${megabytes(memory.rss_bytes)}).`
      : `Memory after ${TARGET_DECISIONS} decisions: not measured (${memory.decisions} made).`,
    verification.events >= TARGET_DECISIONS
      ? `${TARGET_VERIFIED} events a second verified: ${verdict(verification.per_second >= TARGET_VERIFIED)} (${rate(verification.per_second)}/s).`
      : `Events verified a second of a history of ${TARGET_DECISIONS}: not measured (${verification.events} there).`,
    ...(report.problems.length === 0
      ? ['Every decision that was answered is in its ledger once, and every ledger is valid.']
      : report.problems.map((problem) => `WRONG: ${problem}`)),
  ];
}
