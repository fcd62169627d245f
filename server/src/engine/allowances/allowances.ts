import type { Decision } from '@purser/contract/decisions';
import type { AllowanceIssuer } from '@purser/rules/allowances/issuers';
import { type Allowance, endsMs, termsOf } from '@purser/rules/counters/allowances';
import type { AllowanceLabel, AllowanceUse, ExternalId } from './allowance-rows.ts';

/** The rows that a batch loads for its allowances. */
interface LoadedAllowances {
  allowances: readonly Allowance[];
  allowances_of_decisions: readonly Allowance[];
  allowances_of_agents: readonly Allowance[];
  allowances_by_external_id: readonly Allowance[];
  open_allowances_below: readonly { root_id: string; count: number }[];
  allowance_issuers: readonly AllowanceIssuer[];
}

/** The key or else the person that made it. */
export const makerOf = ({
  created_by_key_id,
  created_by_principal_id,
}: Pick<Allowance, 'created_by_key_id' | 'created_by_principal_id'>): string =>
  (created_by_key_id ?? created_by_principal_id) as string;

/** The uppermost allowance above one, or itself. */
export const rootOf = ({ path }: Pick<Allowance, 'path'>): string => path[path.length - 1] as string;

/** The allowances of one workspace, in a batch. A command sees the changes of those before it, and must need what it asks for. */
export class Allowances {
  /** By id: what the lane writes. */
  readonly changes = new Map<string, Allowance>();
  readonly issuer_changes = new Map<string, AllowanceIssuer>();
  readonly new_labels: AllowanceLabel[] = [];
  readonly uses: AllowanceUse[] = [];
  readonly #allowances: Map<string, Allowance>;
  readonly #open_below: Map<string, number>;
  readonly #issuers: Map<string, AllowanceIssuer>;
  readonly #noteChange: () => void;

  constructor(loaded: LoadedAllowances, noteChange: () => void) {
    const all = [
      ...loaded.allowances,
      ...loaded.allowances_of_decisions,
      ...loaded.allowances_of_agents,
      ...loaded.allowances_by_external_id,
    ];
    this.#allowances = new Map(all.map((each) => [each.allowance_id, each]));
    this.#open_below = new Map(loaded.open_allowances_below.map(({ root_id, count }) => [root_id, count]));
    this.#issuers = new Map(loaded.allowance_issuers.map((each) => [each.issuer_id, each]));
    this.#noteChange = noteChange;
  }

  get(allowance_id: string): Allowance | undefined {
    return this.#allowances.get(allowance_id);
  }

  /** These allowances, as they are now. Throws where one was not loaded: nothing may pass because it was not looked at. */
  all(allowance_ids: readonly string[]): Allowance[] {
    return allowance_ids.map((id) => {
      const found = this.#allowances.get(id);
      if (found === undefined) throw new Error(`the allowance ${id} was not loaded`);
      return found;
    });
  }

  /** The allowances that a decision counts in, with all above them. */
  ofDecision({ reservation }: Pick<Decision, 'reservation'>): Allowance[] {
    const ids = (reservation.limits ?? []).flatMap(({ kind, name }) => (kind === 'allowance' ? name : []));
    return this.all([...new Set(ids)]);
  }

  /** The allowance that a maker made with this external id. */
  byExternalId({ maker, external_id }: ExternalId): Allowance | undefined {
    return [...this.#allowances.values()].find(
      (each) => each.external_id === external_id && makerOf(each) === maker,
    );
  }

  /**
   * The standing approvals in force, or the undecided requests, of an agent. The command must need `allowances_of_agents`.
   */
  ofAgent(agent_id: string, kind: 'standing' | 'requested', now_ms: number): Allowance[] {
    const isOf = (each: Allowance) =>
      kind === 'requested' ? each.status === 'REQUESTED' : each.automatic && each.status === 'OPEN';
    return [...this.#allowances.values()].filter(
      (each) => each.agent_id === agent_id && isOf(each) && endsMs(each) > now_ms,
    );
  }

  /** How many open allowances that agents made are below an uppermost one. */
  openBelow(root_id: string): number {
    return this.#open_below.get(root_id) ?? 0;
  }

  add(allowance: Allowance): void {
    const { allowance_id, made_by_agent } = allowance;
    for (const [key, value] of Object.entries(termsOf(allowance).labels))
      this.new_labels.push({ key, value, allowance_id });
    if (made_by_agent) this.#open_below.set(rootOf(allowance), this.openBelow(rootOf(allowance)) + 1);
    this.put(allowance);
  }

  put(allowance: Allowance): void {
    this.#allowances.set(allowance.allowance_id, allowance);
    this.changes.set(allowance.allowance_id, allowance);
    this.#noteChange();
  }

  /** Notes which allowances a decision was made under. */
  noteUses(decision_id: string, chain: readonly Pick<Allowance, 'allowance_id'>[]): void {
    for (const { allowance_id } of chain) this.uses.push({ allowance_id, decision_id });
  }

  issuer(issuer_id: string): AllowanceIssuer | undefined {
    return this.#issuers.get(issuer_id);
  }

  putIssuer(issuer: AllowanceIssuer): void {
    this.#issuers.set(issuer.issuer_id, issuer);
    this.issuer_changes.set(issuer.issuer_id, issuer);
    this.#noteChange();
  }
}
