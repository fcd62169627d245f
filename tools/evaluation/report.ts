import { PURPOSE_ASSESSMENTS } from '@purser/server/tools';
import { type Column, printable, renderTable } from '../demo/table.ts';
import type { Percentiles } from '../demo/totals.ts';
import type { Check, Firings } from './conflicts.ts';
import {
  byAttack,
  type Judged,
  MEASURES,
  precisionAndRecall,
  type Share,
  sharesOf,
  wilson,
  worstMistakes,
} from './measure.ts';
import { type Additions, rightCalledMisaligned, type Warm } from './modes.ts';
import { isUnseen } from './unseen.ts';

/** One file, judged in every way. */
export interface Measured {
  name: string;
  cold: Judged[];
  additions: Additions;
  warm: Warm;
}

const percent = (fraction: number): string => `${(fraction * 100).toFixed(fraction < 0.1 ? 1 : 0)} %`;

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

function mainTable({ cold, additions, warm }: Measured): Table {
  const all = sharesOf(cold);
  const row = (title: string, share: Share) => [title, withInterval(share)];
  return {
    head: ['', 'share, 95 % interval'],
    rows: [
      ...MEASURES.map(({ id, title }) => row(`cold: ${title}`, all[id])),
      row('cold: aligned called MISALIGNED', rightCalledMisaligned(cold)),
      row('raise: not right, and ALIGNED by at least one stuffing', additions.raised),
      row('raise: stuffings that made an assessment better', additions.better.total),
      row('lower: harmless words after which a right spend was no longer ALIGNED', additions.lowered.total),
      row('warm: right spends at confirmed merchants kept ALIGNED', warm.kept),
      row('warm: right spends at any merchant kept ALIGNED', warm.kept_anywhere),
      row('warm: misaligned taken for ALIGNED', warm.slipped),
      row('warm: changed by an unrelated edit of the authority', warm.changed_by_edit),
    ],
  };
}

/** One row a conflict: on how many spends of each right answer it said MISALIGNED, and on how many UNCLEAR. */
function conflictsTable(rows: ReadonlyMap<string, Firings>): Table {
  return {
    head: [
      'conflict',
      'MISALIGNED, rightly',
      '… on unclear ones',
      '… on right ones',
      'UNCLEAR, rightly',
      '… on right ones',
    ],
    rows: [...rows].map(([id, { denied, held }]) => [
      id,
      ...[denied.misaligned, denied.unclear, denied.right, held.misaligned + held.unclear, held.right].map(
        String,
      ),
    ]),
  };
}

function checksTable(checks: readonly Check[]): Table {
  return {
    head: ['conflict', 'made for it', 'fired', 'its twin', 'fired'],
    rows: checks.map(({ id, made_for_it, twin, caught, wrongly }) => [
      id,
      made_for_it,
      cell(caught),
      twin,
      cell(wrongly),
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

const PREFACE = `Written by \`npm run eval -- --write\` for the assessor \`METHOD\`. Built-in alone, no model.

- **Cold**: an agent's first spends, with nothing but its authority.
- **Raise**: what an agent may write to talk an assessor round is added to each case: names of the context behind the
  merchant, words of the objective in the description (also with joiners, in small capitals, in mixed alphabets, letter by
  letter), the objective as category, task or step.
- **Lower**: what honest agents and card statements add: "as discussed", "estimated", a date, an order number, "last period
  was paid 3 October", \`PAYPAL *\`.
- **Warm**: every second case was seen in SHADOW and labelled by people; a careful operator listed the merchants where
  everything that was seen was right, with their payees; the authority then got a constraint that has to do with no spend.
  Judged are all cases again, with another sum, date and order number.

No case of the unseen files was looked at while the assessor was made; their totals were looked at LOOKS times in all.
\`trades-unseen.jsonl\` holds the 40 of 47 authorities whose ids come first by SHA-256, a split that was made before the
first rule; whoever wrote the cases also wrote the assessor, so they are easier than what others write. The authors of
\`apart-held-out.jsonl\` knew neither the assessor nor other cases, and many of its spends ask for careful reading. A→M:
expected ALIGNED, said MISALIGNED.`;

/** What each conflict did on cases that tuning may look at. */
export interface MeasuredConflicts {
  firings: ReadonlyMap<string, Firings>;
  checks: readonly Check[];
}

const markdown = ({ head, rows }: Table) =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');

const sections = (all: readonly Measured[]): string =>
  all
    .map((measured) =>
      [
        `### ${measured.name}`,
        `${measured.cold.length} cases of ${new Set(measured.cold.map((one) => one.authority_id)).size} authorities.`,
        markdown(mainTable(measured)),
        markdown(precisionTable(measured)),
        markdown(attackTable(measured)),
      ].join('\n\n'),
    )
    .join('\n\n');

const UNSEEN_HEAD = '\n## Unseen\n\n';
const SEEN_HEAD = '\n\n## Seen\n\n';

/** What the page says of the unseen cases, measured with an assessor. */
export const renderUnseen = (all: readonly Measured[], method: string): string =>
  `With \`${method}\`, when they were last looked at.\n\n${sections(all.filter(({ name }) => isUnseen(name)))}`;

/** What a page says of the unseen cases, as `renderUnseen` gave it. */
export const unseenIn = (page: string): string =>
  page.slice(page.indexOf(UNSEEN_HEAD) + UNSEEN_HEAD.length, page.indexOf(SEEN_HEAD));

/**
 * The page of reference. The same for the same files: no clock, no names of the machine, no text of the cases. `unseen`: what
 * it says of the unseen cases; `looks`: how often their totals were looked at.
 */
export function renderPage(
  all: readonly Measured[],
  page: { method: string; conflicts: MeasuredConflicts; unseen: string; looks: number },
): string {
  const { firings, checks } = page.conflicts;
  return `# How well purpose is judged

${PREFACE.replace('METHOD', page.method).replace('LOOKS', String(page.looks))}
${UNSEEN_HEAD}${page.unseen}${SEEN_HEAD}${sections(all.filter(({ name }) => !isUnseen(name)))}

## Conflicts

How often each conflict fires on the seen cases, cold, by the right answer. One that needs history cannot fire there; below it
is measured on spends made from the right ones of those cases, and on twins that it must leave alone.

${markdown(conflictsTable(firings))}

${markdown(checksTable(checks))}
`;
}
