import type { SpendRequest } from '@purser/contract/decisions';
import type { ReasonCode } from '@purser/contract/reasons';
import type { Mode } from '@purser/rules/domain/agents';
import type { Origin } from '@purser/rules/domain/audit';
import type { DecisionKind } from '@purser/rules/domain/decisions';
import { allowanceOf, type Caller, credentialOf } from '@purser/rules/domain/keys';
import { ApiError } from '@purser/rules/errors';
import type { AllowanceChain } from '../../engine/commands/allowances/chain.ts';
import type {
  Assessed,
  CreateDecisionInput,
  CreatedDecision,
  KnownAuthority,
  StaleDecision,
} from '../../engine/commands/create-decision.ts';
import type { StandingApprovalsOf } from '../../engine/directory/directories.ts';
import { type Command, Stale } from '../../engine/lane/command.ts';
import type { Lane } from '../../engine/lane/lane.ts';
import type { ReadChain } from '../allowances/chains.ts';
import type { AuthorityCache, FindAgentId } from './authority-cache.ts';

/** A spend to be decided. */
export interface AskedSpend {
  caller: Caller;
  request: SpendRequest;
  idempotency_key: string;
  /** SHA-256 of the RFC 8785 form of the request body as it was sent. */
  request_hash: Buffer;
  origin: Origin;
}

/**
 * Assesses a spend before it enters the lane, against `known` or an authority that it loads itself, and the merchants
 * listed for the agent. Returns null if it finds no authority: the lane then answers `stale` with the current one.
 */
export type PreAssess = (
  spend: {
    workspace_id: string;
    agent_id: string;
    /** The key or session that asks, by which assessments take turns; the agent's id where a rail asks. */
    key_id: string;
    idempotency_key: string;
    request: SpendRequest;
    /** The allowance that it is made under, and all above it. */
    chain?: AllowanceChain;
  },
  known: KnownAuthority | undefined,
) => Promise<Assessed | null> | Assessed | null;

export interface AuthorizeSpendOptions {
  lane: Lane;
  createDecision: Command<CreateDecisionInput, CreatedDecision, StaleDecision>;
  findAgentId: FindAgentId;
  authorities: AuthorityCache;
  readChain: ReadChain;
  standingOf: StandingApprovalsOf;
  preAssess: PreAssess;
  countDecision: (decision: DecisionKind, mode: Mode, reason: ReasonCode) => void;
}

/** The key as it is stored. Those of a bound key are its allowance's own: no key that a client sends has a space. */
function idempotencyScope(caller: Caller, idempotency_key: string): string {
  const bound = allowanceOf(caller);
  return bound === null ? idempotency_key : `${bound} ${idempotency_key}`;
}

/**
 * The allowance that a spend is made under, and all above it: the one that it names, or else the one that its key is bound to.
 * Throws `allowance_mismatch` where the key is bound to another, and `not_found` where the agent may use no such one.
 */
async function chainOf(
  readChain: ReadChain,
  caller: Caller,
  agent_id: string,
  { allowance }: SpendRequest,
): Promise<{ chain?: AllowanceChain }> {
  const bound = allowanceOf(caller);
  const named = allowance ?? bound;
  if (named === null) return {};
  const chain = await readChain(caller.workspace_id, named);
  if (bound !== null && chain?.allowances.every(({ allowance_id }) => allowance_id !== bound) !== false)
    throw new ApiError(
      'allowance_mismatch',
      `allowance: this key is bound to ${bound} and spends under that one or one below it; omit the field or name one of these.`,
    );
  const of_agent = chain?.allowances[0]?.agent_id;
  if (chain === undefined || (of_agent !== null && of_agent !== agent_id))
    throw new ApiError('not_found', 'allowance: no such allowance.');
  return { chain };
}

/** Each change of the authority, or of an answer that counts, before the lane decides takes another attempt. */
const MAX_ATTEMPTS = 5;

/**
 * Makes the function that decides a spend: it finds the agent, assesses the spend against the agent's authority, and lets
 * the lane decide it and hold the money. If the authority or the listed merchants have changed since, the lane returns `stale` and
 * the spend is assessed again. Throws ApiError: `agent_required`, `not_found`, what the lane refuses, or `unavailable` if
 * the authority changed at every attempt. Nothing was decided where it throws.
 */
export function makeAuthorizeSpend(
  options: AuthorizeSpendOptions,
): (spend: AskedSpend) => Promise<CreatedDecision> {
  const { lane, createDecision, findAgentId, authorities, readChain, standingOf, preAssess, countDecision } =
    options;

  async function agentOf(
    { workspace_id, kind, agent_id }: Caller,
    named: string | undefined,
  ): Promise<string> {
    if (kind === 'agent') return agent_id as string;
    if (named === undefined) {
      throw new ApiError('agent_required', 'This key is not bound to an agent: name one with `agent`.');
    }
    const found = await findAgentId(workspace_id, named);
    if (found === undefined) throw new ApiError('not_found', 'No such agent.');
    return found;
  }

  return async ({ caller, request, request_hash, origin, ...asked }) => {
    const { workspace_id } = caller;
    const idempotency_key = idempotencyScope(caller, asked.idempotency_key);
    const agent_id = await agentOf(caller, request.agent);
    const bound = caller.kind === 'agent';
    const chained = await chainOf(readChain, caller, agent_id, request);
    const key_id = credentialOf(caller);
    const spend = { workspace_id, agent_id, key_id, idempotency_key, request, ...chained };
    let assessed: Assessed | null = null;
    let smaller: Pick<CreateDecisionInput, 'also_minor'> = {};
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      // The assessment for the authority in force still holds.
      const known = authorities.latest(agent_id);
      if (smaller.also_minor === undefined) assessed = await preAssess(spend, known);
      const standing = await standingOf(workspace_id, agent_id, known?.allowances_version ?? 0);
      const input = {
        agent_id,
        bound,
        request,
        idempotency_key,
        request_hash,
        assessed,
        ...chained,
        standing,
        ...smaller,
      };
      const result = await lane.submit(workspace_id, createDecision, input, origin);
      if (result instanceof Stale) {
        const { also_minor, ...current } = result.current;
        authorities.remember(agent_id, current);
        smaller = also_minor === undefined ? {} : { also_minor };
        continue;
      }
      if (result.decided !== null) {
        const { decision, mode, reason_code, authority } = result.decided;
        authorities.remember(agent_id, authority);
        countDecision(decision, mode, reason_code);
      }
      return result;
    }
    throw new ApiError(
      'unavailable',
      "The agent's authority, listed merchants or answers changed during every attempt to assess the spend; nothing was decided; retry.",
      { retry_after_s: 1, reason: 'authority_changing' },
    );
  };
}
