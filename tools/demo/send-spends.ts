import { APIError, type Purser } from '@purser/sdk';
import type { Decision } from '@purser/sdk/types';
import type { DecisionKind, Mode, PurposeAssessment } from '@purser/server/tools';
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
  purser: Purser,
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
    // The file may hold anything: what is wrong with it is for the service to say.
    const authority = spend.authority === null ? {} : { authority: spend.authority as never };
    try {
      await purser.agents.create({ slug, mode, ...authority });
      made.set(key, { slug, error: null });
    } catch (error) {
      made.set(key, { slug, error: `its agent was not made: ${refusalOf(error).text}` });
    }
  }
  return made;
}

/** What the service said of a request that it refused, or on which it failed. Throws again where it said nothing. */
function refusalOf(error: unknown): { status: number; text: string } {
  if (!(error instanceof APIError)) throw error;
  return { status: error.status, text: `${error.status} ${error.code}: ${error.message}` };
}

function decidedOf({ purpose, ...decision }: Decision): Decided {
  const { assessment, rationale } = purpose;
  const { reason_codes, authorized_amount_minor, explanation } = decision;
  const parts = { reason_codes, authorized_amount_minor, explanation };
  return { decision: decision.decision, purpose: assessment, rationale, ...parts };
}

async function send(purser: Purser, spend: ExpectedSpend, agent: string, number: number): Promise<SentSpend> {
  const begun_at_ms = performance.now();
  const sent = (more: Pick<SentSpend, 'decided' | 'error' | 'status'>) => ({
    spend,
    ...more,
    took_ms: performance.now() - begun_at_ms,
  });
  try {
    const request = { ...(spend.request as object), agent } as never;
    const decision = await purser.decisions.create(request, { idempotencyKey: `demo-${number}` });
    return sent({ decided: decidedOf(decision), error: null, status: 201 });
  } catch (error) {
    const { status, text } = refusalOf(error);
    return sent({ decided: null, error: text, status });
  }
}

/**
 * Makes an agent for each authority, then asks for a decision on each spend, one after another in their order,
 * so that what is left of a budget does not depend on chance. A refused spend is an error in its place.
 * Rejects when the service does not answer.
 */
export async function sendSpends(
  purser: Purser,
  spends: readonly ExpectedSpend[],
  mode: Mode,
  onSent: (sent: SentSpend) => void,
  signal: AbortSignal,
): Promise<SentSpend[]> {
  const agents = await makeAgents(purser, spends, mode);
  const all: SentSpend[] = [];
  for (const [index, spend] of spends.entries()) {
    signal.throwIfAborted();
    const agent = agents.get(agentKey(spend));
    let sent: SentSpend;
    if (agent === undefined || agent.error !== null) {
      sent = { spend, decided: null, error: agent?.error ?? 'it has no agent', status: 0, took_ms: 0 };
    } else {
      sent = await send(purser, spend, agent.slug, index + 1);
    }
    all.push(sent);
    onSent(sent);
  }
  return all;
}
