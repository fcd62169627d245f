import { createHash } from 'node:crypto';
import type { Authority } from '@purser/contract/authority';
import type { Decision } from '@purser/contract/decisions';
import { formatMoney } from '@purser/contract/money';
import { REASONS } from '@purser/contract/reasons';
import { STAGE_ROWS } from '@purser/contract/stages';
import { esc } from '../pages/html.ts';
import type { PageRecord } from './decision-record.ts';
import { DECISION_STYLE } from './decision-style.ts';

export const PAGE_TYPE = 'text/html; charset=utf-8';

/** The page has one style sheet and loads nothing; nobody indexes it, and no address is passed on. */
export const PAGE_HEADERS: Record<string, string> = {
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(DECISION_STYLE).digest('base64')}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex, nofollow, noarchive',
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/** Longer texts of the agent are cut, so that they do not push the facts off the page. */
const MAX_SHOWN = 400;

/** A page as it was shared: by whom, when, and until when it opens. */
export interface Shared {
  by: string;
  at: string;
  until: string;
}

const timeOf = (at: string) => `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`;

/** Characters that no reader sees or that change the order of others. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
/** A text of somebody else's, as HTML: what nobody sees is left out, so that it reads as it is. */
const shown = (text: string) =>
  esc(text.replace(/\r\n?|\t/g, ' ').replace(UNSEEN, (c) => (c === '\n' ? c : '')));

function clipped(text: string): string {
  const all = [...text];
  if (all.length <= MAX_SHOWN) return shown(text);
  return `${shown(all.slice(0, MAX_SHOWN).join(''))}… <em>(the first ${MAX_SHOWN} of ${all.length} characters)</em>`;
}

type Fact = [name: string, html: string] | null;

const facts = (of: readonly Fact[]) =>
  `<dl>${of
    .filter((each) => each !== null)
    .map(([name, html]) => `<dt>${name}</dt><dd>${html}</dd>`)
    .join('')}</dl>`;

const section = (title: string, html: string) => `<h2>${title}</h2>${html}`;

const WORDS = { ALLOW: 'Allowed', REVIEW: 'Needs a review', DENY: 'Denied' } as const;
const mark = (decision: Decision['decision']) => `<span class="${decision}">${WORDS[decision]}</span>`;

function verdict({ decision, effective_decision, mode, explanation }: Decision): string {
  const now =
    mode === 'SHADOW'
      ? 'Shadow: nothing was stopped.'
      : effective_decision === decision
        ? 'In effect.'
        : `Now in effect: ${mark(effective_decision)}.`;
  return `<p class="verdict">${mark(decision)}. ${now}</p><p>${shown(explanation)}</p>`;
}

function purposeOf(authority: Authority | null, { authority_version, purpose }: Decision): string {
  if (authority === null) return '<p>The agent had no policy.</p>';
  const { objective, constraints = [], success_criteria = [] } = authority.purpose;
  const limits = (
    [
      ['per_transaction_limit_minor', 'per transaction'],
      ['review_threshold_minor', 'review above'],
      ['monthly_budget_minor', 'a month'],
    ] as const
  ).flatMap(([field, words]) => {
    const amount = authority[field];
    return amount === undefined || amount === null
      ? []
      : [`${words} ${formatMoney(amount, authority.currency)}`];
  });
  const list = (texts: readonly string[]): string => texts.map(clipped).join('<br>');
  return facts([
    ['Objective', clipped(objective)],
    constraints.length === 0 ? null : ['Constraints', list(constraints)],
    success_criteria.length === 0 ? null : ['Success criteria', list(success_criteria)],
    limits.length === 0 ? null : ['Limits', limits.join('; ')],
    ['Assessment', shown(`${WORDS_OF_PURPOSE[purpose.assessment]} ${purpose.rationale}`)],
    ['Policy', `version ${authority_version}, as it was for this decision`],
  ]);
}

const WORDS_OF_PURPOSE: Record<Decision['purpose']['assessment'], string> = {
  PURPOSE_ALIGNED: 'Fits.',
  PURPOSE_MISALIGNED: 'Does not fit.',
  PURPOSE_UNCLEAR: 'Unclear.',
};

function requestOf({ decision, agent_name }: PageRecord): string {
  const { action, currency, requested_amount_minor, authorized_amount_minor, task, agent } = decision;
  return `${facts([
    ['Requested', `<strong>${formatMoney(requested_amount_minor, currency)}</strong>`],
    ['Authorized', formatMoney(authorized_amount_minor, currency)],
    ['Agent', shown(agent_name === agent.slug ? agent.slug : `${agent_name} (${agent.slug})`)],
    ['Action', shown(action.type)],
    action.payee_id === undefined ? null : ['Payee', `<code>${shown(action.payee_id)}</code>`],
    ['Requested at', timeOf(decision.created_at)],
  ])}
<div class="claims">${facts([
    [
      'Agent’s words',
      action.description === undefined ? '<em>no description</em>' : clipped(action.description),
    ],
    task === null ? null : ['Task', clipped(task)],
    action.category === undefined ? null : ['Category', shown(action.category)],
  ])}</div>`;
}

function checksOf({ policy_trace }: Decision): string {
  const rows = policy_trace.map(({ stage, name, outcome, detail }) => {
    const title = `${STAGE_ROWS[stage].label}${name === undefined ? '' : ` (${name})`}`;
    return `<tr><td>${shown(title)}</td><td class="${outcome}">${outcome.toLowerCase()}</td><td>${shown(detail)}</td></tr>`;
  });
  return `<table><thead><tr><th>Check</th><th>Result</th><th>Finding</th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

function decidedBy({ decision, reviews }: PageRecord): string {
  const codes = decision.reason_codes.map((code) => REASONS[code].label).join(', ');
  const own: Fact = ['Purser', `${mark(decision.decision)} at ${timeOf(decision.created_at)}: ${esc(codes)}`];
  const people = reviews.map(({ review, by }): Fact => {
    const said = review.action === 'ALLOW' ? 'Allowed' : 'Denied';
    const comment = review.comment === null ? '' : `<br>“${clipped(review.comment)}”`;
    const signed = review.signature === null ? '' : ', signed';
    const text = `<span class="${review.action}">${said}</span>${signed} at ${timeOf(review.created_at)}: <code>${esc(review.reason_code)}</code>${comment}`;
    return [shown(by), text];
  });
  const state: Fact =
    decision.review_state === 'PENDING' || decision.review_state === 'EXPIRED'
      ? ['Review', decision.review_state === 'PENDING' ? 'pending' : 'expired without an answer']
      : null;
  return facts([own, ...people, state]);
}

function outcomeOf({ decision: { currency, outcome_state, verified }, outcomes, sums }: PageRecord): string {
  if (outcomes.length === 0) return '<p>No outcome was reported.</p>';
  const references = [...new Set(outcomes.flatMap(({ external_reference }) => external_reference ?? []))];
  return facts([
    [
      'State',
      `${outcome_state.toLowerCase().replaceAll('_', ' ')}, reported by ${verified ? 'the payment rail' : 'the client'}`,
    ],
    ['Paid', formatMoney(sums.executed_minor, currency)],
    sums.refunded_minor === 0 ? null : ['Refunded', formatMoney(sums.refunded_minor, currency)],
    references.length === 0 ? null : ['Reference', `<code>${references.map(shown).join(', ')}</code>`],
  ]);
}

function hashesOf({ decision, entry }: PageRecord): string {
  const code = (text: string) => `<code>${esc(text)}</code>`;
  return facts([
    ['Decision', code(decision.decision_id)],
    decision.authority_hash === null ? null : ['Policy', code(decision.authority_hash)],
    ...(entry === undefined
      ? []
      : ([
          ['Ledger entry', `${entry.seq}`],
          ['Sealed data', code(entry.data_hash)],
          ['Previous entry', code(entry.prev_hash)],
          ['Entry', code(entry.hash)],
        ] satisfies Fact[])),
  ]);
}

const page = (title: string, body: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${DECISION_STYLE}</style>
</head>
<body>
${body}
</body>
</html>
`;

/**
 * The page of one decision: purpose, request, checks, who decided, outcome and hashes, without context, trace, tokens and
 * e-mails. Every text of somebody else's is escaped. `shared` names who shared it; null on the workspace's own page.
 */
export function renderDecisionPage(record: PageRecord, shared: Shared | null): string {
  const { decision, workspace_name, read_at } = record;
  const merchant = shown(decision.action.merchant);
  const by =
    shared === null
      ? ''
      : `<p class="shared">Shared by <strong>${shown(shared.by)}</strong> of ${shown(workspace_name)} on ${timeOf(shared.at)}. This link shows this decision alone and ends on ${timeOf(shared.until)}.</p>`;
  const sample = record.sample
    ? '<p class="shared"><strong>Sample data.</strong> This agent, this request and these people are invented; Purser decided the request.</p>'
    : '';
  return page(
    `${merchant} · Purser`,
    `<main>
<header><span class="brand">Purser</span><span>${shown(workspace_name)}</span></header>
${sample}${by}
<h1>${merchant}, ${formatMoney(decision.requested_amount_minor, decision.currency)}</h1>
${verdict(decision)}
${section('Purpose', purposeOf(record.authority, decision))}
${section('Request', requestOf(record))}
${section('Checks', checksOf(decision))}
${section('Who decided', decidedBy(record))}
${section('Outcome', outcomeOf(record))}
${section('Hashes', hashesOf(record))}
<footer>As of ${timeOf(read_at)}. Each ledger entry seals the one before it: an export of the ledger proves this decision with the service’s public key.<span class="screen"> Print this page for a PDF.</span></footer>
</main>`,
  );
}

/** The page behind a link that does not open, whatever the reason. */
export const renderNoPage = () =>
  page(
    'This link does not open · Purser',
    '<main class="gone"><h1>This link does not open</h1><p>It has expired, was revoked, or is not complete. Ask the person who sent it for a new one.</p></main>',
  );
