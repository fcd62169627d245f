import {
  DECISIONS,
  type DecisionKind,
  formatMoney,
  PURPOSE_ASSESSMENTS,
  type PurposeAssessment,
} from '@purser/server/tools';
import type { SentSpend } from './send-spends.ts';
import { type Cell, paint, printable, renderTable, type Style } from './table.ts';
import type { Totals } from './totals.ts';

/** How wide the lines may be, and whether colours are wanted. */
export interface Screen {
  width: number;
  has_colour: boolean;
}

const DECISION_STYLES: Record<DecisionKind, Style> = { ALLOW: 'green', REVIEW: 'yellow', DENY: 'red' };

const PURPOSE_WORDS: Record<PurposeAssessment, string> = {
  PURPOSE_ALIGNED: 'aligned',
  PURPOSE_MISALIGNED: 'misaligned',
  PURPOSE_UNCLEAR: 'unclear',
};

/** The amount in its currency's own form; as it stands where the currency or amount is not one. */
function money(amount_minor: unknown, currency: unknown): string {
  try {
    return formatMoney(amount_minor as number, currency as string);
  } catch {
    return `${String(currency)} ${String(amount_minor)} (minor units)`;
  }
}

function purposeCell({ spend, decided }: SentSpend): Cell {
  const expected = PURPOSE_WORDS[spend.expected.purpose];
  if (spend.authority === null) return { text: '- none to judge', style: 'dim' };
  if (decided === null) return { text: `? ${expected}`, style: 'dim' };
  if (decided.purpose === spend.expected.purpose) return { text: `✓ ${expected}`, style: 'green' };
  const is_grave = decided.purpose === 'PURPOSE_ALIGNED';
  return {
    text: `✗ ${expected}→${PURPOSE_WORDS[decided.purpose]}`,
    style: is_grave ? 'red' : 'yellow',
  };
}

function rowOf(sent: SentSpend): Cell[] {
  const { spend, decided, error, took_ms } = sent;
  const action = spend.request.action as Record<string, unknown>;
  const asked = money(action.amount_minor, action.currency);
  const is_capped = decided?.decision === 'ALLOW' && decided.authorized_amount_minor !== action.amount_minor;
  const granted = is_capped ? money(decided.authorized_amount_minor, action.currency) : '';
  const capped = is_capped ? ` → ${granted.slice(granted.indexOf(' ') + 1)}` : '';
  return [
    { text: spend.id },
    { text: String(action.merchant) },
    { text: asked + capped },
    decided === null
      ? { text: 'ERROR', style: 'red' }
      : { text: decided.decision, style: DECISION_STYLES[decided.decision] },
    { text: decided === null ? String(error) : decided.reason_codes.join(', ') },
    purposeCell(sent),
    { text: took_ms.toFixed(1), style: 'dim' },
  ];
}

/** The table of all spends, one line each. Where the assessed purpose is not the expected one, both are shown. */
export function renderSpends(all: readonly SentSpend[], screen: Screen): string[] {
  return renderTable(
    [
      { title: 'SPEND', min_width: 12, keeps: 'end' },
      { title: 'MERCHANT', min_width: 10 },
      { title: 'AMOUNT', align: 'right' },
      { title: 'DECISION' },
      { title: 'REASONS', min_width: 16 },
      { title: 'PURPOSE', min_width: 14 },
      { title: 'MS', align: 'right' },
    ],
    all.map(rowOf),
    screen,
  );
}

function share(part: number, whole: number): string {
  return whole === 0 ? '-' : `${((100 * part) / whole).toFixed(1)} %`;
}

function renderAgreement({ agreement }: Totals, screen: Screen): string[] {
  const { matrix } = agreement;
  const rows = PURPOSE_ASSESSMENTS.map((expected): Cell[] => {
    const row = matrix[expected];
    const all = Object.values(row).reduce((sum, count) => sum + count, 0);
    return [
      { text: PURPOSE_WORDS[expected] },
      ...PURPOSE_ASSESSMENTS.map((assessed): Cell => {
        const text = `${row[assessed]} (${share(row[assessed], all)})`;
        if (row[assessed] === 0) return { text, style: 'dim' };
        return { text, style: assessed === expected ? 'green' : 'yellow' };
      }),
      { text: String(all) },
    ];
  });
  const all_of = (kind: PurposeAssessment) => Object.values(matrix[kind]).reduce((a, b) => a + b, 0);
  const counted = (part: number, whole: number) => `${part} of ${whole} (${share(part, whole)})`;
  const aligned = all_of('PURPOSE_ALIGNED');
  return [
    ...renderTable(
      [
        { title: 'expected \\ assessed' },
        ...PURPOSE_ASSESSMENTS.map((kind) => ({ title: PURPOSE_WORDS[kind], align: 'right' as const })),
        { title: 'all', align: 'right' },
      ],
      rows,
      screen,
    ),
    `as expected                     ${counted(agreement.agreed, agreement.judged)}`,
    `misaligned taken for aligned    ${counted(agreement.misaligned_taken_for_aligned, all_of('PURPOSE_MISALIGNED'))}`,
    `unclear taken for aligned       ${counted(agreement.unclear_taken_for_aligned, all_of('PURPOSE_UNCLEAR'))}`,
    `aligned taken for misaligned    ${counted(agreement.aligned_taken_for_misaligned, aligned)}`,
    `aligned not taken for aligned   ${counted(agreement.aligned_not_recognised, aligned)}`,
  ];
}

/** Everything below the table of spends. */
export function renderTotals(totals: Totals, screen: Screen): string[] {
  const heading = (text: string) => ['', paint(text, 'bold', screen.has_colour)];
  const indented = (lines: readonly string[]) => lines.map((line) => `  ${line}`);
  const { ledger, time_ms, attacks, errors } = totals;
  const inner = { ...screen, width: screen.width - 2 };

  const decisions = DECISIONS.map((kind): Cell[] => [
    { text: kind, style: DECISION_STYLES[kind] },
    { text: String(totals.decisions[kind]) },
    { text: share(totals.decisions[kind], totals.decided) },
  ]);
  const reasons = Object.entries(totals.reasons).map(([code, { first, any }]): Cell[] => [
    any === 0 ? { text: code, style: 'dim' } : { text: code },
    { text: String(first) },
    { text: String(any) },
  ]);
  const verdict = ledger.valid
    ? paint('valid', 'green', screen.has_colour)
    : paint('BROKEN', 'red', screen.has_colour);
  return [
    ...heading('Decisions'),
    ...indented(
      renderTable(
        [{ title: 'decision' }, { title: 'spends', align: 'right' }, { title: 'share', align: 'right' }],
        decisions,
        inner,
      ),
    ),
    ...heading('Reasons'),
    ...indented(
      renderTable(
        [{ title: 'reason' }, { title: 'first', align: 'right' }, { title: 'given', align: 'right' }],
        reasons,
        inner,
      ),
    ),
    ...heading('Purpose: agreement with what a careful person would say'),
    ...indented(renderAgreement(totals, inner)),
    ...heading('Attacks on spends that do not fit the purpose'),
    `  ${attacks.allowed} of ${attacks.tried} got an ALLOW${attacks.allowed === 0 ? '' : `: ${printable(attacks.allowed_ids.join(', '))}`}`,
    ...heading('Time per decision, over HTTP, one after another'),
    `  p50 ${time_ms.p50.toFixed(1)} ms   p95 ${time_ms.p95.toFixed(1)} ms   p99 ${time_ms.p99.toFixed(1)} ms   max ${time_ms.max.toFixed(1)} ms`,
    ...heading('Ledger'),
    `  ${verdict}, ${ledger.events_checked} events, head ${ledger.head.seq} ${ledger.head.hash}`,
    ...(errors.length === 0
      ? []
      : [
          ...heading(`${errors.length} of ${totals.spends} spends got no decision`),
          ...errors.map(({ id, error }) => `  ${printable(id)}: ${printable(error)}`),
        ]),
  ];
}
