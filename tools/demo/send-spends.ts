import {
  DECISIONS,
  type DecisionKind,
  type Mode,
  PURPOSE_ASSESSMENTS,
  type PurposeAssessment,
} from '@purser/server/tools';
import { type Answer, describeError, type JsonClient } from './json-client.ts';
import type { ExpectedSpend } from './spends-file.ts';

/** What the service decided about one spend. */
export interface Decided {
  decision: DecisionKind;
  reason_codes: string[];
  purpose: PurposeAssessment;
  authorized_amount_minor: number;
  explanation: string;
  rationale: string;
}

/** A spend with what came of it: a decision, or the error in its place. */
export interface SentSpend {
  spend: ExpectedSpend;
  decided: Decided | null;
  /** Null when there is a decision. */
  error: string | null;
  /** The answer's status; 0 when the request was not sent, since its agent could not be made. */
  status: number;
  took_ms: number;
}

/** The ledger's verification as `GET /v1/ledger/verify` answers it. */
export interface LedgerVerification {
  valid: boolean;
  events_checked: number;
  head: { seq: number; hash: string };
  duration_ms: number;
}

const MAX_SLUG_LENGTH = 64;

/** A slug that no other agent has, as close to the authority's id as a slug can be. */
function makeSlug(authority_id: string, taken: ReadonlySet<string>): string {
  const base = authority_id
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^[_-]+/, '');
  for (let number = 1; ; number += 1) {
    const ending = number === 1 ? '' : `-${number}`;
    const slug = `${(base || 'agent').slice(0, MAX_SLUG_LENGTH - ending.length)}${ending}`;
    if (!taken.has(slug)) return slug;
  }
}

interface MadeAgent {
  slug: string;
  /** Why it could not be made. */
  error: string | null;
}

/** The same authority under one id is one agent; another authority under that id is another agent. */
function agentKey({ authority_id, authority }: ExpectedSpend): string {
  return JSON.stringify([authority_id, authority]);
}

async function makeAgents(
  client: JsonClient,
  spends: readonly ExpectedSpend[],
  mode: Mode,
): Promise<ReadonlyMap<string, MadeAgent>> {
  const made = new Map<string, MadeAgent>();
  const slugs = new Set<string>();
  for (const spend of spends) {
    const key = agentKey(spend);
    if (made.has(key)) continue;
    const slug = makeSlug(spend.authority_id, slugs);
    slugs.add(slug);
    const authority = spend.authority === null ? {} : { authority: spend.authority };
    const answer = await client.send('POST', '/v1/agents', { slug, mode, ...authority });
    const error = answer.status === 201 ? null : `its agent was not made: ${describeError(answer)}`;
    made.set(key, { slug, error });
  }
  return made;
}

/** Null when the answer is not of the form that the API promises. */
function readDecision(body: unknown): Decided | null {
  const { decision, reason_codes, purpose, authorized_amount_minor, explanation } = (body ?? {}) as Record<
    string,
    unknown
  >;
  const { assessment, rationale } = (purpose ?? {}) as Record<string, unknown>;
  const kind = DECISIONS.find((known) => known === decision);
  const assessed = PURPOSE_ASSESSMENTS.find((known) => known === assessment);
  if (kind === undefined || assessed === undefined || !Array.isArray(reason_codes)) return null;
  return {
    decision: kind,
    reason_codes: reason_codes.map(String),
    purpose: assessed,
    authorized_amount_minor: Number(authorized_amount_minor),
    explanation: String(explanation),
    rationale: String(rationale),
  };
}

function readSent(spend: ExpectedSpend, answer: Answer): SentSpend {
  const { status, took_ms } = answer;
  if (status !== 201) return { spend, decided: null, error: describeError(answer), status, took_ms };
  const decided = readDecision(answer.body);
  const error = decided === null ? 'the answer is not a decision' : null;
  return { spend, decided, error, status, took_ms };
}

/**
 * Makes an agent for each authority, then asks for a decision on each spend, one after another in their order,
 * so that what is left of a budget does not depend on chance. A refused spend is an error in its place.
 * Rejects when the service does not answer.
 */
export async function sendSpends(
  client: JsonClient,
  spends: readonly ExpectedSpend[],
  mode: Mode,
  onSent: (sent: SentSpend) => void,
  signal: AbortSignal,
): Promise<SentSpend[]> {
  const agents = await makeAgents(client, spends, mode);
  const all: SentSpend[] = [];
  for (const [index, spend] of spends.entries()) {
    signal.throwIfAborted();
    const agent = agents.get(agentKey(spend));
    let sent: SentSpend;
    if (agent === undefined || agent.error !== null) {
      sent = { spend, decided: null, error: agent?.error ?? 'it has no agent', status: 0, took_ms: 0 };
    } else {
      const body = { ...spend.request, agent: agent.slug };
      const headers = { 'idempotency-key': `demo-${index + 1}` };
      sent = readSent(spend, await client.send('POST', '/v1/decisions', body, headers));
    }
    all.push(sent);
    onSent(sent);
  }
  return all;
}

/** Has the service verify its ledger. Throws when it does not answer with a verification. */
export async function verifyLedger(client: JsonClient): Promise<LedgerVerification> {
  const answer = await client.send('GET', '/v1/ledger/verify');
  const { valid, events_checked, head, duration_ms } = (answer.body ?? {}) as Partial<LedgerVerification>;
  if (answer.status !== 200 || typeof valid !== 'boolean') {
    throw new Error(`The ledger could not be verified: ${describeError(answer)}`);
  }
  return {
    valid,
    events_checked: Number(events_checked),
    head: { seq: Number(head?.seq), hash: String(head?.hash) },
    duration_ms: Number(duration_ms),
  };
}
