import type { DecisionLinkRow } from '@purser/rules/sharing/decision-link';

/** The links of decisions that a batch loaded. A command sees the changes of those before it. */
export class DecisionLinks {
  /** By id: what the lane writes. */
  readonly changes = new Map<string, DecisionLinkRow>();
  readonly #noteChange: () => void;
  readonly #links: Map<string, DecisionLinkRow>;

  constructor(links: readonly DecisionLinkRow[], noteChange: () => void) {
    this.#noteChange = noteChange;
    this.#links = new Map(links.map((link) => [link.link_id, link]));
  }

  find(link_id: string): DecisionLinkRow | undefined {
    return this.#links.get(link_id);
  }

  put(link: DecisionLinkRow): void {
    this.#links.set(link.link_id, link);
    this.changes.set(link.link_id, link);
    this.#noteChange();
  }
}
