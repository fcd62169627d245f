import type { RequestAllowance } from '@purser/contract/allowances/fields';
import { MAX_REQUESTED, REQUESTED_DAYS } from '@purser/contract/values/allowances';
import type { Allowance } from '@purser/rules/counters/allowances';
import { type Command, done, refuse } from '../../lane/command.ts';
import { whyNotMade } from './new-allowance.ts';
import { publishAllowance } from './publish-allowance.ts';
import { addAllowance, newRow } from './record-allowance.ts';

export interface RequestAllowanceInput {
  /** The id of the agent that is to use it. */
  agent_id: string;
  body: RequestAllowance;
  /** SHA-256 of the body in RFC 8785 form, hex. */
  body_hash: string;
  /** The key or person that requests it, for their external ids. */
  maker: string;
  /** How long it waits for a decision. */
  ttl_seconds: number;
}

export interface RequestedAllowance {
  allowance: Allowance;
  /** It was there already, requested by the same body. */
  replayed: boolean;
}

const DAY_MS = 86_400_000;

/** The moment in ISO UTC, at most `latest`. */
const atMost = (at_ms: number, latest: string) => new Date(Math.min(at_ms, Date.parse(latest))).toISOString();

/** Records a request for an allowance, which permits nothing until a person grants it. */
export const requestAllowance: Command<RequestAllowanceInput, RequestedAllowance> = {
  name: 'requestAllowance',
  needs: ({ agent_id, maker, body: { external_id } }) => ({
    agents: [agent_id],
    allowances_of_agents: [agent_id],
    allowance_external_ids: external_id === undefined ? [] : [{ maker, external_id }],
    webhooks: true,
  }),
  apply(set, input, origin) {
    const { agent_id, body_hash, maker, ttl_seconds } = input;
    const { external_id = null } = input.body;
    const agent = set.agent(agent_id);
    if (agent === undefined) return refuse('not_found', 'No such agent.');
    const earlier = external_id === null ? undefined : set.allowances.byExternalId({ maker, external_id });
    if (earlier !== undefined) {
      return earlier.body_hash === body_hash
        ? done({ allowance: earlier, replayed: true })
        : refuse('allowance_exists', 'external_id: already made another allowance; use a new one.');
    }
    const expires_at = input.body.expires_at ?? new Date(set.now_ms + REQUESTED_DAYS * DAY_MS).toISOString();
    const body = { ...input.body, agent: agent_id, expires_at };
    const made = { body, agent, budget: null, parent: null, now_ms: set.now_ms };
    const refusal = whyNotMade(made, '');
    if (refusal !== null) return { kind: 'refused', refusal };
    if (set.allowances.ofAgent(agent_id, 'requested', set.now_ms).length >= MAX_REQUESTED)
      return refuse('allowance_limit', `${MAX_REQUESTED} requests of the agent wait for a decision already.`);

    // After this point it is requested: nothing may refuse it.
    const { key_id, principal_id } = origin.actor;
    const decide_by = atMost(set.now_ms + ttl_seconds * 1_000, expires_at);
    const { amount_minor, purpose } = body;
    const requested_by = { key_id, principal_id };
    const allowance = newRow(set, made, origin, {
      status: 'REQUESTED',
      vouches: false,
      external_id,
      body_hash: external_id === null ? null : body_hash,
      source: 'REQUEST',
      decide_by,
      request: JSON.stringify({ amount_minor, purpose, expires_at, decide_by, requested_by }),
    });
    const event_id = addAllowance(set, allowance, origin, 'allowance.requested');
    publishAllowance(set, 'allowance.requested', allowance, origin, event_id);
    return done({ allowance, replayed: false });
  },
};
