import type { LimitAlert } from '@purser/rules/counters/limit-alerts';

type Ref = Pick<LimitAlert, 'agent_id' | 'limit_id' | 'subject' | 'percent'>;

const nameOf = ({ agent_id, limit_id, subject, percent }: Ref) =>
  `${agent_id} ${limit_id} ${percent} ${subject}`;

/** The newest alerts of agents' limits, in a batch. A command must need `limit_alerts`. */
export class LimitAlerts {
  /** By name: what the lane writes. */
  readonly changes = new Map<string, LimitAlert>();
  readonly #alerts: Map<string, LimitAlert>;
  readonly #noteChange: () => void;

  constructor(alerts: readonly LimitAlert[], noteChange: () => void) {
    this.#alerts = new Map(alerts.map((alert) => [nameOf(alert), alert]));
    this.#noteChange = noteChange;
  }

  find(ref: Ref): LimitAlert | undefined {
    return this.#alerts.get(nameOf(ref));
  }

  put(alert: LimitAlert): void {
    this.#alerts.set(nameOf(alert), alert);
    this.changes.set(nameOf(alert), alert);
    this.#noteChange();
  }
}
