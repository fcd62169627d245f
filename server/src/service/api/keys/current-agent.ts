import { decodeStop, whyInactive } from '@purser/rules/domain/workspace';
import { ApiError } from '@purser/rules/errors';
import type pg from 'pg';
import { loadAgents } from '../../../engine/storage/agents.ts';
import { loadAuthoritiesOf } from '../../../engine/storage/authorities.ts';
import { getHead } from '../../../engine/storage/ledger.ts';

/**
 * Reads the agent of a key as `GET /v1/api-keys/current` shows it: whether it may spend, and the terms of its authority that a
 * payment rail obeys before it requests anything. Throws ApiError `not_found`.
 */
export async function currentAgent(db: pg.Pool, workspace_id: string, agent_id: string) {
  const [[agent], head] = await Promise.all([
    loadAgents(db, workspace_id, [agent_id]),
    getHead(db, workspace_id),
  ]);
  if (agent === undefined) throw new ApiError('not_found', 'No such agent.');
  const { slug, mode, status, authority_hash: hash } = agent;
  const authority = (await loadAuthoritiesOf(db, workspace_id, [agent])).get(agent_id);
  const may_spend = whyInactive(agent, decodeStop(head?.stop ?? null)) === null;
  const of_agent = { id: agent_id, slug, mode, status, may_spend };
  if (authority === undefined || hash === null) return { ...of_agent, authority: null };
  const {
    currency,
    per_transaction_limit_minor = null,
    review_threshold_minor = null,
    model_usage = null,
  } = authority;
  const terms = { hash, currency, per_transaction_limit_minor, review_threshold_minor, model_usage };
  return { ...of_agent, authority: terms };
}
