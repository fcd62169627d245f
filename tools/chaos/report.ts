import type { Finding } from './stage.ts';

/** A whole run. */
export interface ChaosReport {
  seed: number;
  is_quick: boolean;
  machine: {
    cpus: number;
    cpu: string;
    memory_bytes: number;
    node: string;
    platform: string;
    /** Of the last minute when the run began: what else the machine was doing. */
    load: number;
  };
  minutes: number;
  findings: Record<string, Finding & { says: string }>;
}

/** `slowest_back_ms: 3464` as people say it. */
function figure([name, value]: [string, number | string]): string {
  return `${name.replaceAll('_', ' ').replace(/ ms$/, ' (ms)')} ${value}`;
}

/** What became of one scenario, in one word. */
export function verdict({ skipped, problems }: Finding): string {
  if (skipped !== undefined) return 'skipped';
  return problems.length === 0 ? 'held' : 'BROKEN';
}

/** What was found, as lines for the terminal. */
export function describeFinding(name: string, finding: Finding): string[] {
  if (finding.skipped !== undefined) return [`${name}: skipped: ${finding.skipped}`];
  const figures = Object.entries(finding.figures).map(figure).join(', ');
  return [
    `${name}: ${verdict(finding)}. ${figures}`,
    ...finding.problems.slice(0, 10).map((problem) => `  - ${problem}`),
  ];
}

/** The text of docs/reference/chaos.md. */
export function renderChaosReport(report: ChaosReport): string {
  const { machine, seed, findings } = report;
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
  const rows = Object.entries(findings).map(([name, finding]) => {
    const figures = finding.skipped ?? Object.entries(finding.figures).map(figure).join('; ');
    return `| \`${name}\` | ${cell(finding.says)} | ${verdict(finding)} | ${cell(figures)} |`;
  });
  const broken = Object.entries(findings).flatMap(([name, { problems }]) =>
    problems.slice(0, 10).map((problem) => `- \`${name}\`: ${cell(problem).slice(0, 400)}`),
  );
  return [
    '# Faults',
    '',
    `Written by \`npm run chaos -- --report\`: the ${report.is_quick ? 'quick' : 'full'} run with seed ${seed}, ${report.minutes.toFixed(0)} minutes, on ${machine.cpus} processors`,
    `(${machine.cpu}), ${(machine.memory_bytes / 1e9).toFixed(0)} GB, ${machine.platform}, Node ${machine.node}; load of the machine when it began: ${machine.load.toFixed(1)}.`,
    '`npm run chaos -- --seed N` breaks things at the same moments again; `--list` names the scenarios.',
    '',
    'Clients run beside the service, retry what they do not know with the same idempotency key, and keep what they',
    'were told. After each scenario it is compared with the database: every acknowledged decision is there, once;',
    'nothing is there that nobody asked for; each counter is the sum of its holds; every decision is in the outbox',
    'where an endpoint wants it; the chain verifies.',
    '',
    '| Scenario | What is done | Result | Figures |',
    '|---|---|---|---|',
    ...rows,
    '',
    ...(broken.length === 0 ? ['Everything held.'] : ['What did not hold:', '', ...broken]),
    '',
  ].join('\n');
}
