import type { CoverageSettings } from '@purser/rules/matching/spends';
import { pushTo } from '@purser/rules/values/maps';
import { reachMs } from './match-range.ts';

/** A time of an agent in which something changed, ms. */
export interface ChangedSpan {
  agent_id: string;
  from_ms: number;
  to_ms: number;
}

/** The times in which spends or requests of agents changed, with all that this may reach. */
export class ChangedSpans {
  readonly #by_agent = new Map<string, { from_ms: number; to_ms: number }[]>();

  add(agent_id: string, at: string, until = at): void {
    pushTo(this.#by_agent, agent_id, { from_ms: Date.parse(at), to_ms: Date.parse(until) });
  }

  /** The spans, widened by their reach; those that overlap are one. In the order of time within an agent. */
  merged(settings: CoverageSettings): ChangedSpan[] {
    const reach_ms = reachMs(settings);
    return [...this.#by_agent].flatMap(([agent_id, spans]) => {
      const merged: ChangedSpan[] = [];
      for (const { from_ms, to_ms } of spans.sort((a, b) => a.from_ms - b.from_ms)) {
        const span = { agent_id, from_ms: from_ms - reach_ms, to_ms: to_ms + reach_ms };
        const last = merged.at(-1);
        if (last !== undefined && span.from_ms <= last.to_ms) last.to_ms = Math.max(last.to_ms, span.to_ms);
        else merged.push(span);
      }
      return merged;
    });
  }
}
