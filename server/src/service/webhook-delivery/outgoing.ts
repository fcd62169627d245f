import type { Decision } from '@purser/contract/decisions';
import type { ChannelFilter } from '@purser/contract/routes/notices/channels';
import { decodeDecision } from '@purser/rules/domain/decision-document';
import { matchesFilter } from '@purser/rules/notices/recipients';
import {
  failingText,
  limitText,
  type NoticeText,
  type RequestFacts,
  type RequestKind,
  requestText,
  type SummedRequests,
  summaryText,
  testText,
} from '@purser/rules/notices/text';
import { clickable } from '@purser/rules/reviews/clickable';
import { timeOfId } from '@purser/rules/values/ids';
import type { SummaryData } from '../../engine/lane/notices.ts';
import { type DueNotice, MAX_SUMMARIZED } from './notice-rows.ts';
import type { OutgoingNotice } from './sender.ts';

/** The way in which a receiver wants its notices. */
export interface NoticeStyle {
  filter: ChannelFilter | null;
  show_claims: boolean;
  /** Without a slash at its end. */
  public_url: string;
}

interface Content {
  text: NoticeText;
  review?: OutgoingNotice['review'];
  data: Record<string, unknown>;
}

/** The facts of a decision that notices have. */
export function factsOf(decision: Decision): RequestFacts {
  const { decision_id, agent, reason_code, action, reservation } = decision;
  return {
    decision_id,
    agent: agent.slug,
    amount_minor: decision.requested_amount_minor,
    currency: decision.currency,
    reason_code,
    expires_at: reservation.expires_at,
    merchant: action.merchant,
    description: action.description ?? null,
  };
}

function aboutRequest(kind: RequestKind, document: string, style: NoticeStyle): Content {
  const decision = decodeDecision(document);
  const facts = factsOf(decision);
  const { decision_id, agent, amount_minor, currency, reason_code, expires_at } = facts;
  const text = requestText(kind, facts, style);
  // Receivers often pass these on to people, so they get the cleaned texts too.
  const [merchant, description] = text.claims;
  return {
    text,
    review: { decision_id, ...clickable(decision) },
    data: {
      kind,
      decision_id,
      url: text.link.url,
      agent,
      amount_minor,
      currency,
      reason_code,
      expires_at,
      claims: { merchant: merchant?.text ?? null, description: description?.text ?? null },
    },
  };
}

function summed(decisions: readonly Decision[]): SummedRequests {
  const amounts = new Map<string, number>();
  for (const { currency, requested_amount_minor } of decisions) {
    const sum = (amounts.get(currency) ?? 0) + requested_amount_minor;
    amounts.set(currency, Math.min(sum, Number.MAX_SAFE_INTEGER));
  }
  const expiries = decisions.flatMap(({ reservation }) => reservation.expires_at ?? []).sort();
  return {
    count: decisions.length,
    agents: [...new Set(decisions.map(({ agent }) => agent.slug))],
    amounts: [...amounts].map(([currency, amount_minor]) => ({ currency, amount_minor })),
    expires_at: expiries[0] ?? null,
  };
}

function aboutSeveral(
  { about }: SummaryData,
  documents: readonly string[],
  { filter, public_url }: NoticeStyle,
): Content | null {
  const decisions = documents.map(decodeDecision).filter((decision) => matchesFilter(filter, decision));
  if (decisions.length === 0) return null;
  const told = decisions.slice(0, MAX_SUMMARIZED);
  const sums = summed(told);
  const has_more = decisions.length > told.length;
  const decision_ids = told.map(({ decision_id }) => decision_id);
  const text = summaryText('SUMMARY', sums, public_url);
  return { text, data: { kind: 'SUMMARY', about, url: text.link.url, ...sums, has_more, decision_ids } };
}

/** The body of an event about a limit or budget that was reached, as far as notices read it. */
interface LimitData {
  percent: number;
  agent?: { slug: string };
  limit?: { name: string };
  budget?: { slug: string };
  decision_id: string;
}

function aboutLimit({ percent, agent, limit, budget, decision_id }: LimitData, public_url: string): Content {
  const reached = { percent, name: limit?.name ?? budget?.slug ?? '', agent: agent?.slug ?? null };
  const text = limitText(reached, public_url);
  const name = text.claims[0]?.text ?? '';
  return { text, data: { kind: 'LIMIT', url: text.link.url, ...reached, name, decision_id } };
}

function contentOf(notice: DueNotice, style: NoticeStyle, summarized: readonly string[]): Content | null {
  const { kind, document } = notice;
  const data = notice.data === null ? {} : JSON.parse(notice.data);
  const { public_url } = style;
  switch (kind) {
    case 'REQUESTED':
    case 'REMINDER':
    case 'ESCALATED':
    case 'ASSIGNED':
      return document === null ? null : aboutRequest(kind, document, style);
    case 'SUMMARY':
      return aboutSeveral(data, summarized, style);
    case 'LIMIT':
      return aboutLimit(data, public_url);
    case 'FAILING': {
      const text = failingText(data, public_url);
      return { text, data: { kind, url: text.link.url, ...data } };
    }
    case 'DIGEST': {
      const text = summaryText('DIGEST', data, public_url);
      return { text, data: { kind, url: text.link.url, ...data } };
    }
    case 'TEST': {
      const text = testText(public_url);
      return { text, data: { kind, url: text.link.url } };
    }
  }
}

/**
 * Makes the message of a notice; null if there is nothing to say any more, because what it is about was decided, has
 * expired or was removed, or because it was sent already. `summarized`: the decisions that a SUMMARY counts.
 */
export function outgoing(
  notice: DueNotice,
  style: NoticeStyle,
  summarized: readonly string[],
): OutgoingNotice | null {
  const { notice_id, kind, status, is_over } = notice;
  if (is_over || (status !== 'SCHEDULED' && status !== 'RETRYING')) return null;
  const content = contentOf(notice, style, summarized);
  if (content === null) return null;
  const created_at = new Date(timeOfId(notice_id) ?? 0).toISOString();
  return { notice_id, kind, created_at, review: null, ...content };
}
