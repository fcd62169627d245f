import { expect, test } from 'vitest';
import { readStat } from './processes.ts';
import { type BenchReport, renderPage, renderReport, shownNumber, shownSpread } from './render.ts';

const report: BenchReport = {
  machine: {
    cpus: 2,
    cpu: 'Some Processor',
    memory_bytes: 8e9,
    node: '20.19.0',
    load_before: 0.3,
    begun_at: '2026-11-21T08:00:00.000Z',
  },
  options: '--report',
  groups: [
    {
      name: 'decisions',
      title: 'Decisions',
      result: {
        tables: [
          {
            title: 'Rates',
            columns: ['point', 'decisions/s'],
            rows: [['64 clients | one workspace', '5000']],
          },
        ],
        goals: [
          { name: 'to TPC-B', unit: '', is_least: true, goal: 1.6, measured: 1.2 },
          { name: 'memory', unit: 'MB', is_least: false, goal: 200, measured: null },
        ],
        notes: ['How it was measured.'],
        problems: [],
      },
    },
  ],
};
const screen = { width: 100, has_colour: false };
const withProblem: BenchReport = {
  ...report,
  groups: report.groups.map((group) => ({
    ...group,
    result: { ...group.result, problems: ['The ledger of ws_1 is not valid.'] },
  })),
};

test('figures keep digits that say something, and what is none is not shown as one', () => {
  expect([1234.56, 56.78, 1.234, 0].map(shownNumber)).toEqual(['1235', '56.8', '1.23', '0.00']);
  expect(shownNumber(Number.NaN)).toBe('–');
  expect(shownSpread({ median: 5, min: 4, max: 6 })).toBe('5.00 (4.00 to 6.00)');
  expect(shownSpread({ median: 5, min: 5, max: 5 })).toBe('5.00');
});

test('the page says where, when and how it was measured, and what became of every goal', () => {
  const page = renderPage(report);
  expect(page).toContain('npm run bench -- --report');
  expect(page).toContain('2026-11-21, 2 x Some Processor, 8 GB, Node 20.19.0');
  expect(page).toContain('| to TPC-B | at least 1.60 x | 1.20 x | missed by 25 % |');
  expect(page).toContain('| memory | at most 200 MB | – | not measured |');
  expect(page).toContain('| 64 clients \\| one workspace | 5000 |');
  expect(page).toContain('- How it was measured.');
  expect(page).toContain('every ledger is valid');
  expect(page).toMatch(/## What others publish\n[\s\S]*\| \[pgledger: [^\]]*\]\(https:\/\/[^)]+\) \|/);
});

test('a shared machine is called one', () => {
  expect(renderPage(report)).not.toContain('shared');
  const busy = { ...report, machine: { ...report.machine, load_before: 7.5 } };
  expect(renderReport(busy, screen).join(' ')).toContain('busy with other programs');
  expect(renderReport(report, screen).join(' ')).not.toContain('busy with other programs');
  expect(renderPage(busy)).toContain('on average 7.5 programs wanted its 2 processors');
});

test('what is wrong is said on the page and on the screen', () => {
  expect(renderPage(withProblem)).toContain('Wrong in this run: Decisions: The ledger of ws_1 is not valid.');
  expect(renderPage(withProblem)).not.toContain('every ledger is valid');
  expect(renderReport(withProblem, screen)).toContain('WRONG: Decisions: The ledger of ws_1 is not valid.');
});

test('the screen shows tables and goals within its width', () => {
  const lines = renderReport(report, screen);
  expect(lines.find((line) => line.startsWith('to TPC-B'))).toContain('missed by 25 %');
  expect(lines.some((line) => line.includes('5000'))).toBe(true);
});

test('processor time is read after a name that holds brackets and blanks', () => {
  const fields = Array.from({ length: 50 }, (_, i) => String(i + 3));
  expect(readStat(`42 (odd) name) ${fields.join(' ')}`)).toEqual({ parent: 4, own: 29, ended: 33 });
});
