import type pg from 'pg';
import type { CreateDecisionInput } from '../commands/create-decision.ts';
import { decide } from '../domain/decide.ts';
import type { SpendRequest } from '../domain/spends.ts';
import type { Assess } from '../purpose/assessment.ts';
import {
  type AskModel,
  canBeLowered,
  type NoOpinion,
  type OpinionEffect,
  withOpinion,
  withoutOpinion,
} from '../purpose/second-opinion.ts';
import { getSpendingAuthority, parseAuthority } from '../storage/authorities.ts';
import type { HistoryOf } from './histories.ts';

/** Assesses a spend with a model's second opinion, before the lane; null leaves all of it to the lane. */
export type AssessAhead = (spend: {
  workspace_id: string;
  agent_id: string;
  idempotency_key: string;
  request: SpendRequest;
}) => Promise<CreateDecisionInput['assessed']>;

export interface AssessAheadOptions {
  db: pg.Pool;
  assess: Assess;
  historyOf: HistoryOf;
  askModel: AskModel;
  /** Name of the model. */
  model: string;
  may_clear: boolean;
  metrics: { countSecondOpinion(result: OpinionEffect | NoOpinion): void };
}

const NOTHING_SPENT = { held_minor: 0, committed_minor: 0 };

/**
 * The model is asked only where its opinion could change something: not for a replay or an agent that may not spend
 * (the lane answers these), not below misaligned, and not for a spend that limits or blocklist deny whatever it says.
 */
export function makeAssessAhead(options: AssessAheadOptions): AssessAhead {
  const { db, assess, historyOf, askModel, model, may_clear, metrics } = options;
  return async ({ workspace_id, agent_id, idempotency_key, request }) => {
    const row = await getSpendingAuthority(db, workspace_id, agent_id, idempotency_key);
    if (row === undefined) return null;
    const authority_hash = row.hash;
    const authority = parseAuthority(row);
    const built_in = assess(authority, request, await historyOf(workspace_id, agent_id, authority));
    const denied = decide({ authority, request, budget: NOTHING_SPENT }, () => built_in).decision === 'DENY';
    if (denied || !canBeLowered(built_in)) return { authority_hash, assessment: built_in };
    const asked = await askModel(authority_hash, authority, request);
    if ('none' in asked) {
      metrics.countSecondOpinion(asked.none);
      return { authority_hash, assessment: withoutOpinion(built_in, asked.none) };
    }
    const { assessment, effect } = withOpinion(built_in, asked.opinion, { model, may_clear });
    metrics.countSecondOpinion(effect);
    return { authority_hash, assessment };
  };
}
