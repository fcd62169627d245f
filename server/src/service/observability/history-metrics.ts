import { LINE_STATES, type LineState } from '@purser/contract/values/coverage';
import {
  LINE_RESULTS,
  type LineResult,
  RAIL_EVENT_RESULTS,
  RAIL_KINDS,
  type RailEventResult,
  type RailKind,
} from '@purser/contract/values/history';
import { Counter, Gauge, type Registry } from 'prom-client';

/** The metrics of imports, rails and coverage. */
export interface HistoryMetrics {
  /** Counts lines of files by what became of them. */
  countImportLines(result: LineResult, count: number): void;
  countRailEvent(kind: RailKind, result: RailEventResult): void;
  /** Sets how many lines there are in each state; those that are not named have none. */
  setCoverage(counts: readonly { state: LineState; lines: number }[]): void;
}

/** Makes the metrics of imports, rails and coverage. */
export function makeHistoryMetrics(registry: Registry) {
  const lines = new Counter({
    name: 'purser_import_lines_total',
    help: 'Lines of imported files, by what became of them: taken, present already, skipped or bad.',
    labelNames: ['result'] as const,
    registers: [registry],
  });
  for (const result of LINE_RESULTS) lines.inc({ result }, 0);
  const events = new Counter({
    name: 'purser_rail_events_total',
    help: 'Card events of rails, by what became of them: accepted, refused or ignored.',
    labelNames: ['kind', 'result'] as const,
    registers: [registry],
  });
  for (const kind of RAIL_KINDS) for (const result of RAIL_EVENT_RESULTS) events.inc({ kind, result }, 0);
  const coverage = new Gauge({
    name: 'purser_coverage_lines',
    help: 'Lines of payment rails by whether a decision asked for them, as last counted.',
    labelNames: ['state'] as const,
    aggregator: 'max',
    registers: [registry],
  });
  const setCoverage: HistoryMetrics['setCoverage'] = (counts) => {
    const by_state = new Map(counts.map(({ state, lines: count }) => [state, count]));
    for (const state of LINE_STATES) coverage.set({ state }, by_state.get(state) ?? 0);
  };
  setCoverage([]);
  return {
    countImportLines: (result, count) => lines.inc({ result }, count),
    countRailEvent: (kind, result) => events.inc({ kind, result }),
    setCoverage,
  } satisfies HistoryMetrics;
}
