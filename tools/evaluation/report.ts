import { PURPOSE_ASSESSMENTS } from '@purser/server/tools';
import { type Column, printable, renderTable } from '../demo/table.ts';
import type { Percentiles } from '../demo/totals.ts';
import {
  byAttack,
  heldOutAuthorities,
  type Judged,
  MEASURES,
  overSplits,
  precisionAndRecall,
  type Share,
  sharesOf,
  wilson,
  worstMistakes,
} from './measure.ts';

/** One file, judged without and with the labels of earlier cases. */
export interface Measured {
  name: string;
  cold: Judged[];
  warm: Judged[];
}

const SPLITS = 20;
const percent = (fraction: number): string => `${(fraction * 100).toFixed(0)} %`;

function cell(share: Share): string {
  if (share.of === 0) return '-';
  return `${percent(share.count / share.of)} (${share.count}/${share.of})`;
}

function withInterval(share: Share): string {
  if (share.of === 0) return '-';
  const { low, high } = wilson(share);
  return `${cell(share)}, ${percent(low)} to ${percent(high)}`;
}

interface Table {
  head: string[];
  rows: string[][];
}

function mainTable({ cold, warm }: Measured): Table {
  const held = heldOutAuthorities(cold.map((one) => one.authority_id));
  const all = sharesOf(cold);
  const later = sharesOf(warm);
  const tuned = sharesOf(cold.filter((one) => !held.has(one.authority_id)));
  const apart = sharesOf(cold.filter((one) => held.has(one.authority_id)));
  const splits = overSplits(cold, SPLITS);
  return {
    head: [
      '',
      'cold, 95 % interval',
      'warm',
      'tuned half',
      'held-out half',
      `half of ${SPLITS} splits: mean, worst`,
    ],
    rows: MEASURES.map(({ id, title }) => [
      title,
      withInterval(all[id]),
      cell(later[id]),
      cell(tuned[id]),
      cell(apart[id]),
      all[id].of === 0 ? '-' : `${percent(splits[id].mean)}, ${percent(splits[id].worst)}`,
    ]),
  };
}

function precisionTable({ cold }: Measured): Table {
  return {
    head: ['', 'precision', 'recall', 'said'],
    rows: PURPOSE_ASSESSMENTS.map((kind) => {
      const { precision, recall } = precisionAndRecall(cold, kind);
      return [kind, cell(precision), cell(recall), cell({ count: precision.of, of: cold.length })];
    }),
  };
}

const LETTER = { PURPOSE_ALIGNED: 'A', PURPOSE_MISALIGNED: 'M', PURPOSE_UNCLEAR: 'U' } as const;

function attackTable({ cold }: Measured): Table {
  const pairs = PURPOSE_ASSESSMENTS.flatMap((expected) =>
    PURPOSE_ASSESSMENTS.map((assessed) => ({
      key: `${expected} ${assessed}`,
      title: `${LETTER[expected]}→${LETTER[assessed]}`,
    })),
  );
  return {
    head: ['attack', ...pairs.map(({ title }) => title)],
    rows: [...byAttack(cold)].map(([kind, row]) => [
      kind,
      ...pairs.map(({ key }) => String(row.get(key) ?? 0)),
    ]),
  };
}

function mistakesTable({ cold }: Measured, count: number): Table {
  return {
    head: ['case', 'expected', 'said', 'stands on'],
    rows: worstMistakes(cold, count).map(({ id, expected, assessment }) => [
      id,
      LETTER[expected],
      LETTER[assessment.assessment],
      `${assessment.rationale} [${assessment.evidence.map(({ field, text }) => `${field}: ${text}`).join('; ')}]`,
    ]),
  };
}

/** The tables of one file as text for a terminal. `took_us`: microseconds a case. */
export function renderTerminal(
  measured: Measured,
  took_us: Percentiles,
  width: number,
  mistakes: number,
): string {
  const table = ({ head, rows }: Table) => {
    const columns: Column[] = head.map((title, i) =>
      i === head.length - 1 && title === 'stands on' ? { title, min_width: 30 } : { title },
    );
    return renderTable(
      columns,
      rows.map((row) => row.map((text) => ({ text }))),
      { width, has_colour: false },
    ).join('\n');
  };
  const time = `time per case, with the readings kept: median ${took_us.p50.toFixed(0)} µs, p99 ${took_us.p99.toFixed(0)} µs`;
  return [
    `${printable(measured.name)}: ${measured.cold.length} cases of ${new Set(measured.cold.map((one) => one.authority_id)).size} authorities`,
    table(mainTable(measured)),
    table(precisionTable(measured)),
    'By attack, expected→said:',
    table(attackTable(measured)),
    ...(mistakes > 0 ? [`The ${mistakes} gravest mistakes:`, table(mistakesTable(measured, mistakes))] : []),
    time,
    '',
  ].join('\n\n');
}

/** The page of reference. The same for the same files: no clock, no names of the machine, no text of the cases. */
export function renderPage(all: readonly Measured[], method: string): string {
  const table = ({ head, rows }: Table) =>
    [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
  return `# How well purpose is judged

Written by \`npm run eval -- --write\` for the assessor \`${method}\`. Cold: without history. Warm: an authority's cases in
order, people's labels of the earlier ones known as history. The held-out half are the authorities whose ids come first
by SHA-256; the assessor was tuned on the others. The project's own files are one thing as a whole, so their halves say
nothing: \`apart-tuned-on.jsonl\`, \`cases.jsonl\` and \`spends.jsonl\` were tuned on; of \`apart-held-out.jsonl\` no case was
looked at, only the totals were. The two \`apart\` files were written by several authors, for 55 authorities of other trades,
who saw neither the assessor nor any other case. A→M: expected ALIGNED, said MISALIGNED.

${all
  .map((measured) =>
    [
      `## ${measured.name}`,
      `${measured.cold.length} cases of ${new Set(measured.cold.map((one) => one.authority_id)).size} authorities.`,
      table(mainTable(measured)),
      table(precisionTable(measured)),
      table(attackTable(measured)),
    ].join('\n\n'),
  )
  .join('\n\n')}
`;
}
