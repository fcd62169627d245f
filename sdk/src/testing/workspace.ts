import type { Authority } from '@purser/contract/authority';
import type { Decision as MadeDecision, SpendRequest } from '@purser/contract/decisions';
import type { Capability as StoredCapability } from '@purser/contract/records';
import type { Agent } from '@purser/rules/domain/agents';
import type { Consumption as StoredConsumption } from '@purser/rules/domain/capabilities';
import type { DecisionEvent, DecisionHistory } from '@purser/rules/domain/decision-history';
import type { Outcome as StoredOutcome } from '@purser/rules/domain/outcomes';
import type { ReviewRow } from '@purser/rules/domain/reviews';
import type {
  AuthorityRequest,
  Capability,
  ConsumeRequest,
  Consumption,
  Decision,
  DecisionRequest,
  Mode,
  Outcome,
  OutcomeRequest,
  RecordedReview,
  ReviewRequest,
} from '../types.ts';
import { newId } from './ids.ts';
import { keyConflict, Refused, refuseIf } from './refused.ts';
import type { Verdict } from './rule.ts';
import {
  apply,
  beginHistory,
  canonicalJson,
  capabilityExpiry,
  capabilityIdOf,
  capabilityOf,
  capabilityStatusAt,
  composeDecision,
  consumptionBody,
  consumptionSummary,
  countersOf,
  EMPTY_DIRECTORY,
  effectiveNow,
  exactRepeat,
  flagsOfExecution,
  isExpired,
  isLease,
  issuesCapability,
  judgementOfLease,
  judgeOutcome,
  liveFields,
  newCapability,
  outcomeBody,
  periodOf,
  reviewBody,
  whyFinal,
  whyNotAllowed,
  whyNotConsumed,
  whyNotCovered,
  whyUnreviewable,
} from './rules.ts';
import { type JudgedSpend, Totals } from './totals.ts';
import { ASSESSMENT, judgedByPolicy, judgedByRule, openAuthority } from './verdicts.ts';

const WHO = { key_id: 'key_00000000000000000000000000', principal_id: null };
const REVIEWER = { key_id: 'key_00000000000000000000000001', principal_id: 'user:reviewer' };
/** The service's default. */
const CAPABILITY_TTL_SECONDS = 900;
const AUTHORITY = { version: 1, hash: `sha256:${'0'.repeat(64)}` };

/** One decision with all its records. */
interface Kept {
  decision: MadeDecision;
  agent: Agent;
  authority: Authority;
  history: DecisionHistory;
  review: ReviewRow | null;
  outcomes: StoredOutcome[];
  consumption: { key: string; body: string; stored: StoredConsumption } | null;
}

/** Decisions in memory with their records, and the counters that they count in: what the service has in its database. */
export class FakeWorkspace {
  readonly #mode: Mode;
  readonly #authority: Authority | null;
  readonly #kept = new Map<string, Kept>();
  readonly #agents = new Map<string, Agent>();
  readonly #totals = new Totals();

  /** Throws a TypeError for an authority that names shared budgets, which the fake does not have. */
  constructor(mode: Mode, authority: AuthorityRequest | undefined) {
    if (authority?.budgets !== undefined) throw new TypeError('authority: the fake has no shared budgets');
    this.#mode = mode;
    this.#authority = (authority as Authority | undefined) ?? null;
  }

  /** Every decision as it is now, oldest first. */
  decisions(): Decision[] {
    return Array.from(this.#kept.values(), (kept) => this.#view(kept));
  }

  /** A decision as it is now. */
  decision(decision_id: string): Decision {
    return this.#view(this.#find(decision_id));
  }

  /** The outcomes of a decision, oldest first. */
  outcomesOf(decision_id: string): Outcome[] {
    return this.#find(decision_id).outcomes.map((outcome) => outcomeBody(outcome));
  }

  /** Decides a request: by a verdict, or without one by the policy. */
  decide(slug: string, body: DecisionRequest, given: Verdict | null): Decision {
    if (body.allowance !== undefined)
      throw new Refused('not_found', 'allowance: the fake has no allowances.');
    const verdict = typeof given === 'string' ? { decision: given } : given;
    const now_ms = Date.now();
    this.#releaseExpired(now_ms);
    const agent = { ...this.#agent(slug), mode: verdict?.mode ?? this.#mode };
    const facts = this.#factsOf(agent, body as SpendRequest, now_ms);
    const judged =
      verdict === null
        ? judgedByPolicy(facts, agent.agent_id, (counters) => this.#totals.load(counters))
        : judgedByRule(body, verdict);
    const spend = { decision_id: newId('dec'), agent, facts, judged };
    const capability = issuedFor(spend);
    const reservation = this.#totals.hold(spend, capability);
    const decision = composeDecision({
      decision_id: spend.decision_id,
      agent,
      request: facts.request,
      verdict: judged.verdict,
      remedies: judged.remedies(reservation.expires_at),
      authority: AUTHORITY,
      directory_version: 0,
      review_terms: {},
      questions: [],
      allowance: null,
      reservation,
      capability,
      created_at: isoTime(now_ms),
      requested_by: WHO,
      request_id: null,
    });
    this.#totals.count(decision);
    const { authority } = facts;
    const history = beginHistory(decision);
    const kept = { decision, agent, authority, history, review: null, outcomes: [], consumption: null };
    this.#kept.set(decision.decision_id, kept);
    return this.#view(kept);
  }

  /** Records a review. Refuses what the service refuses. */
  review(decision_id: string, body: ReviewRequest): RecordedReview {
    const now_ms = Date.now();
    this.#releaseExpired(now_ms);
    const kept = this.#find(decision_id);
    const { decision, agent, authority } = kept;
    const { state } = kept.history;
    refuseIf(whyUnreviewable(decision));
    refuseIf(whyFinal(decision, state, body.supersedes ?? null));
    if (decision.mode === 'ENFORCE' && body.action === 'ALLOW')
      refuseIf(whyNotAllowed({ decision, state, agent, authority, budgets: [], allowances: [], now_ms }));
    const at = isoTime(now_ms);
    const review: ReviewRow = {
      review_id: newId('rev'),
      decision_id,
      action: body.action,
      reason_code: body.reason_code,
      comment: body.comment ?? null,
      supersedes: body.supersedes ?? null,
      ...REVIEWER,
      by_key_maker: false,
      on_behalf_of: null,
      voice: null,
      questions: [],
      // It knows no listed merchants, so it lists none.
      remember: null,
      signature: null,
      via: null,
      created_at: at,
      capability_expires_at: issuesCapability(decision, state, body.action)
        ? capabilityExpiry(now_ms, CAPABILITY_TTL_SECONDS, authority)
        : null,
    };
    kept.review = review;
    this.#record(kept, { type: 'decision.review.recorded', at, review });
    const { capability } = this.#view(kept);
    const { token: _, ...issued } = capability ?? ({} as Capability);
    return {
      ...reviewBody(review),
      effective_decision: effectiveNow(decision, kept.history.state),
      ...(capability === null ? {} : { capability: issued }),
    };
  }

  /** Consumes the capability with this token. Refuses what the service refuses, in its order. */
  consume(key: string, body: ConsumeRequest): { replayed: boolean; answer: Consumption } {
    const now_ms = Date.now();
    const text = canonicalJson(body);
    const used = [...this.#kept.values()].find((each) => each.consumption?.key === key);
    if (used?.consumption != null) {
      if (used.consumption.body !== text) throw keyConflict();
      return { replayed: true, answer: consumptionBody(used.consumption.stored, used.agent) };
    }
    const kept = [...this.#kept.values()].find(
      ({ decision }) => tokenOf(decision.decision_id) === body.token,
    );
    const capability = kept === undefined ? null : capabilityOf(kept.decision, kept.history.state);
    if (kept === undefined || capability === null) throw new Refused('not_found', 'No such capability.');
    const { decision, agent } = kept;
    const { amount_minor, currency, payee_id = null, merchant = null } = body;
    refuseIf(whyNotConsumed({ decision, agent, stop: null, capability, allowances: [], now_ms }));
    refuseIf(whyNotCovered(capability, { amount_minor, currency, payee_id, merchant }));
    const stored = {
      capability_id: capability.capability_id,
      decision_id: decision.decision_id,
      agent_id: agent.agent_id,
      idempotency_key: key,
      amount_minor,
      currency,
      payee_id: payee_id ?? capability.payee_id,
      merchant,
      external_reference: body.external_reference ?? null,
      ...WHO,
      consumed_at: isoTime(now_ms),
    } as StoredConsumption;
    kept.consumption = { key, body: text, stored };
    this.#record(kept, { type: 'capability.consumed', at: stored.consumed_at, amount_minor });
    return { replayed: false, answer: consumptionBody(stored, agent) };
  }

  /** Records an outcome. An exact repeat is answered with the earlier one. */
  report(decision_id: string, body: OutcomeRequest): { repeated: boolean; answer: Outcome } {
    const now_ms = Date.now();
    this.#releaseExpired(now_ms);
    const kept = this.#find(decision_id);
    const { decision, outcomes } = kept;
    const { type, currency = decision.currency, source = 'CLIENT_REPORTED' } = body;
    if (currency !== decision.currency) throw new Refused('currency_mismatch', 'The currency differs.');
    if (body.amount_minor === undefined && (type === 'SPEND_EXECUTED' || type === 'PARTIALLY_REFUNDED')) {
      throw new Refused('invalid_request', 'amount_minor: is required');
    }
    if (body.usage !== undefined && source !== 'PAYMENT_RAIL')
      throw new Refused('invalid_request', 'usage: source must be PAYMENT_RAIL');
    const external_reference = body.external_reference ?? null;
    const report = { type, amount_minor: body.amount_minor ?? null, currency, external_reference, source };
    const repeat = exactRepeat(outcomes, report);
    if (repeat !== undefined) return { repeated: true, answer: outcomeBody(repeat) };
    const judged = judgeOutcome(outcomes, report);
    if (!judged.ok) throw new Refused('outcome_conflict', judged.problem);
    const { amount_minor } = judged;
    const at = isoTime(now_ms);
    const outcome: StoredOutcome = {
      outcome_id: newId('out'),
      decision_id,
      ...report,
      amount_minor,
      occurred_at: body.occurred_at ?? at,
      ...WHO,
      recorded_at: at,
      flags: [...flagsOfExecution(decision, kept.history.state, type, amount_minor), ...judged.flags],
      usage: body.usage === undefined ? null : JSON.stringify(body.usage),
    };
    outcomes.push(outcome);
    this.#record(kept, { type: 'decision.outcome.recorded', at, report: outcome });
    return { repeated: false, answer: outcomeBody(outcome) };
  }

  #find(decision_id: string): Kept {
    const found = this.#kept.get(decision_id);
    if (found === undefined) throw new Refused('not_found', 'No such decision.');
    return found;
  }

  #agent(slug: string): Agent {
    const found = this.#agents.get(slug);
    if (found !== undefined) return found;
    const at = isoTime(Date.now());
    const agent: Agent = {
      agent_id: newId('agt'),
      slug,
      name: slug,
      mode: this.#mode,
      status: 'active',
      authority_version: AUTHORITY.version,
      authority_hash: AUTHORITY.hash,
      directory_version: 0,
      answers_version: 0,
      allowances_version: 0,
      created_at: at,
      updated_at: at,
    };
    this.#agents.set(slug, agent);
    return agent;
  }

  #factsOf({ agent_id }: Agent, request: SpendRequest, now_ms: number) {
    const authority = this.#authority ?? (openAuthority(request) as Authority);
    const { action } = request;
    return {
      authority,
      request,
      directory: EMPTY_DIRECTORY,
      budget: this.#totals.budget({ agent_id, period: periodOf(now_ms), currency: authority.currency }),
      counters: this.#totals.load(countersOf(authority, agent_id, action)),
      shared_budgets: [],
      assessment: isLease(authority, action) ? judgementOfLease() : { ...ASSESSMENT, evidence: [] },
      is_known_merchant: this.#totals.isKnown(agent_id, action),
      now_ms,
    };
  }

  /** Applies a later record of a decision, and brings the totals up to date. */
  #record(kept: Kept, event: DecisionEvent): void {
    const { state: before } = kept.history;
    kept.history = apply(kept.history, event);
    this.#totals.change(kept.decision, before, kept.history.state, event);
  }

  #releaseExpired(now_ms: number): void {
    for (const kept of this.#kept.values()) {
      if (isExpired(kept.history.state, now_ms))
        this.#record(kept, { type: 'reservation.expired', at: isoTime(now_ms) });
    }
  }

  #view({ decision, agent, history, review, consumption }: Kept): Decision {
    const { state } = history;
    const now_ms = Date.now();
    const counter = this.#totals.budget(state);
    const shown_review = review === null ? null : reviewBody(review);
    const approvals = shown_review?.action === 'ALLOW' ? [shown_review] : [];
    const records = { review: shown_review, approvals, label: null, counter };
    const { capability, ...current } = { ...decision, ...liveFields(decision, state, records, now_ms) };
    const shown = capability && {
      token: tokenOf(decision.decision_id),
      ...capability,
      status: capabilityStatusAt(capability, agent, now_ms),
      ...(consumption === null ? {} : { consumption: consumptionSummary(consumption.stored) }),
    };
    return { ...current, capability: shown } as Decision;
  }
}

/** The token of the capability that a decision issues. */
const tokenOf = (decision_id: string) => `${capabilityIdOf(decision_id)}.fake`;

const isoTime = (time_ms: number) => new Date(time_ms).toISOString();

/** The capability that a decision issues: an ALLOW in ENFORCE has one. */
function issuedFor({ decision_id, agent, facts, judged }: JudgedSpend): StoredCapability | null {
  const { decision, held_amount_minor: amount_minor } = judged.verdict;
  if (agent.mode !== 'ENFORCE' || decision !== 'ALLOW') return null;
  const expires_at = capabilityExpiry(facts.now_ms, CAPABILITY_TTL_SECONDS, facts.authority);
  return newCapability(decision_id, { ...facts.request.action, amount_minor }, facts.now_ms, expires_at);
}
