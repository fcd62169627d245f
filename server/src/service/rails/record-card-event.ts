import type { SpendRequest } from '@purser/contract/decisions';
import type { ReasonCode } from '@purser/contract/reasons';
import type { CardAuthorization, CardSpend } from '@purser/rail-events/card-event';
import { askedFirst } from '@purser/rules/cards/asked-first';
import { observedKey } from '@purser/rules/cards/authorizations';
import type { Mode } from '@purser/rules/domain/agents';
import type { DecisionKind } from '@purser/rules/domain/decisions';
import { sha256 } from '@purser/rules/domain/ledger';
import { ApiError } from '@purser/rules/errors';
import { coverageSettings } from '@purser/rules/matching/settings';
import type { RailRow } from '@purser/rules/rails/rails';
import { canonicalJson } from '@purser/rules/values/canonical-json';
import type pg from 'pg';
import type {
  Assessed,
  CreateDecisionInput,
  CreatedDecision,
  StaleDecision,
} from '../../engine/commands/create-decision.ts';
import { makeRecordRailEvent, type Watch } from '../../engine/commands/rails/record-rail-event.ts';
import type { StandingApprovalsOf } from '../../engine/directory/directories.ts';
import { type Command, Stale } from '../../engine/lane/command.ts';
import type { Lane } from '../../engine/lane/lane.ts';
import { type FoundWatch, findAsked, findWatch } from '../../engine/rails/watch-rows.ts';
import type { InWorkspace } from '../../engine/storage/rows.ts';
import type { AuthorityCache } from '../decisions/authority-cache.ts';
import type { PreAssess } from '../decisions/authorize-spend.ts';
import type { RecordCardEvent } from './take-event.ts';

export interface RecordCardEventOptions {
  db: pg.Pool;
  lane: Lane;
  createDecision: Command<CreateDecisionInput, CreatedDecision, StaleDecision>;
  authorities: AuthorityCache;
  standingOf: StandingApprovalsOf;
  preAssess: PreAssess;
  countDecision: (decision: DecisionKind, mode: Mode, reason: ReasonCode) => void;
}

/** Each change of what an event was prepared for, before the lane records it, takes another attempt. */
const MAX_ATTEMPTS = 6;

/** The problem of an event whose lines contradict known ones. */
const CHANGED =
  'A movement of money says something else than the line of the same id that is known; the known one stays.';

/** The spend of a card as an agent would ask for it: the payee is the card. */
const requestOf = ({ merchant, amount_minor, currency, category, instrument }: CardSpend): SpendRequest => ({
  action: {
    type: 'purchase',
    merchant,
    amount_minor,
    currency,
    payee_id: instrument,
    ...(category === null ? {} : { category }),
  },
});

/** The results of an earlier attempt. */
interface Prepared {
  assessed: Assessed | null;
  /** A smaller amount that may be offered, whose duplicates have to be loaded. The assessment then still holds. */
  also_minor: number | undefined;
}

/** Looks authorizations up, and prepares the decisions that they get. */
class Watcher {
  readonly #options: RecordCardEventOptions;

  constructor(options: RecordCardEventOptions) {
    this.#options = options;
  }

  /** The decision to be made of a spend, assessed for the authority as this node knows it. */
  async #decisionOf(
    rail: InWorkspace<RailRow>,
    agent_id: string,
    { authorization }: CardAuthorization,
    spend: CardSpend,
    prepared: Prepared,
  ): Promise<CreateDecisionInput> {
    const { workspace_id, rail_id, kind } = rail;
    const request = requestOf(spend);
    const idempotency_key = observedKey(kind, authorization);
    const { also_minor } = prepared;
    const { preAssess, authorities, standingOf } = this.#options;
    const known = authorities.latest(agent_id);
    if (also_minor === undefined) {
      const asked = { workspace_id, agent_id, key_id: agent_id, idempotency_key, request };
      prepared.assessed = await preAssess(asked, known);
    }
    return {
      agent_id,
      bound: false,
      request,
      idempotency_key,
      request_hash: sha256(canonicalJson(request)),
      assessed: prepared.assessed,
      standing: await standingOf(workspace_id, agent_id, known?.allowances_version ?? 0),
      observed: { rail_id, authorization, occurred_at: spend.occurred_at },
      ...(also_minor === undefined ? {} : { also_minor }),
    };
  }

  async #makeOf(
    rail: InWorkspace<RailRow>,
    found: FoundWatch,
    of: CardAuthorization,
    prepared: Prepared,
  ): Promise<Watch['make']> {
    const { spend } = of;
    const { agent_id, after_seq, newest_decision_id } = found;
    if (spend === null || agent_id === null || found.mode !== 'SHADOW' || found.decision_id !== null)
      return null;
    const paid = { ...spend, authorization: of.authorization };
    const settings = coverageSettings(found);
    const asked = await findAsked(this.#options.db, rail.workspace_id, agent_id, paid, settings);
    const asked_id = askedFirst(asked, paid, settings);
    const create = await this.#decisionOf(rail, agent_id, of, spend, prepared);
    return { paid, create, asked_id, settings, after_seq, newest_decision_id };
  }

  async watchOf(
    rail: InWorkspace<RailRow>,
    of: CardAuthorization,
    at: string,
    prepared: Prepared,
  ): Promise<Watch> {
    const { authorization, instrument, state } = of;
    const found = await findWatch(this.#options.db, rail.workspace_id, {
      kind: rail.kind,
      authorization,
      instrument,
      at,
    });
    const { agent_id, mode, decision_id, assignment_version } = found;
    const is_shadow = agent_id !== null && instrument !== null && mode === 'SHADOW';
    return {
      authorization,
      state: state === 'OPEN' ? null : state,
      decision_id,
      shadow: is_shadow ? { agent_id, instrument, assignment_version } : null,
      make: await this.#makeOf(rail, found, of, prepared),
    };
  }
}

/**
 * Makes the function that records a card event. Its movements become lines. Where the card is of an agent in SHADOW, the
 * authorization gets one decision, unless the agent asked for it first, and what its rail reports becomes the outcome. Throws
 * ApiError `unavailable` if what it depends on changed at every attempt; then nothing was recorded.
 */
export function makeRecordCardEvent(options: RecordCardEventOptions): RecordCardEvent {
  const { lane, authorities, countDecision } = options;
  const recordRailEvent = makeRecordRailEvent(options.createDecision);
  const watcher = new Watcher(options);

  return async (rail, { event, lines, origin }) => {
    const { workspace_id, rail_id, kind } = rail;
    const { authorization: of } = event;
    const at = of?.spend?.occurred_at ?? lines[0]?.occurred_at ?? 'now';
    const prepared: Prepared = { assessed: null, also_minor: undefined };
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const watch = of === null ? null : await watcher.watchOf(rail, of, at, prepared);
      const input = { rail_id, kind, lines, watch };
      const result = await lane.submit(workspace_id, recordRailEvent, input, origin);
      if (result instanceof Stale) {
        const { decision } = result.current;
        prepared.also_minor = decision?.also_minor;
        if (decision !== null && watch?.shadow != null) {
          const { also_minor: _, ...current } = decision;
          authorities.remember(watch.shadow.agent_id, current);
        }
        continue;
      }
      const { decided, changed } = result;
      if (decided !== null) countDecision(decided.decision, decided.mode, decided.reason_code);
      return changed > 0 ? CHANGED : null;
    }
    throw new ApiError(
      'unavailable',
      'What the event depends on changed during every attempt; send it again.',
      {
        retry_after_s: 1,
      },
    );
  };
}
