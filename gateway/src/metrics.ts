/** Counters and gauges in the text format of Prometheus. Labels are names of ours, never words of a call. */
export class Metrics {
  readonly #counters = new Map<string, number>();

  /** Adds to a counter; `labels` as in `provider="openai"`. */
  count(name: CounterName, labels = '', by = 1): void {
    const series = labels === '' ? name : `${name}{${labels}}`;
    this.#counters.set(series, (this.#counters.get(series) ?? 0) + by);
  }

  /** The text of `/metrics`, with these values of gauges. */
  text(gauges: Record<GaugeName, number>): string {
    const lines: string[] = [];
    for (const [name, help] of Object.entries(COUNTERS)) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} counter`);
      const series = [...this.#counters].filter(([each]) => each === name || each.startsWith(`${name}{`));
      for (const [each, value] of series.sort()) lines.push(`${each} ${value}`);
      // A counter without labels is there from the start.
      if (series.length === 0 && !LABELLED.has(name)) lines.push(`${name} 0`);
    }
    for (const [name, help] of Object.entries(GAUGES))
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, `${name} ${gauges[name as GaugeName]}`);
    return `${lines.join('\n')}\n`;
  }
}

const COUNTERS = {
  purser_gateway_calls_total: 'Calls that were passed on, by provider, shape and status.',
  purser_gateway_refused_total: 'Calls that were refused, by code.',
  purser_gateway_lowered_total: 'Calls whose limit on output was lowered.',
  purser_gateway_uncertain_total:
    'Calls that were counted with a worst case, because their usage was not reported.',
  purser_gateway_over_bound_total: 'Calls that cost more than was set aside for them.',
  purser_gateway_aborted_total: 'Calls whose client went away before the end of the answer.',
} as const;
const GAUGES = {
  purser_gateway_open_leases: 'Leases that are not reported yet.',
  purser_gateway_calls_open: 'Calls in flight.',
} as const;
const LABELLED: ReadonlySet<string> = new Set(['purser_gateway_calls_total', 'purser_gateway_refused_total']);

export type CounterName = keyof typeof COUNTERS;
export type GaugeName = keyof typeof GAUGES;
