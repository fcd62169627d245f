// node scripts/make-currency-table.mjs LIST-ONE.XML: writes packages/rules/src/values/data/iso-4217.json from list one of ISO 4217,
// which SIX Group publishes at https://www.six-group.com/en/products-services/financial-information/data-standards.html
// (list-one.xml). Run it with a newer list when a currency is added or withdrawn.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const TARGET = fileURLToPath(new URL('../packages/rules/src/values/data/iso-4217.json', import.meta.url));

/**
 * Amendments published after the list that was last read, by their number: `dl-currency-iso-amendment-NUMBER.pdf` of
 * SIX Group. A newer list has them already; then they change nothing.
 */
const AMENDMENTS = [
  // From 2025-03-31: the Caribbean guilder in place of that of the Netherlands Antilles.
  { number: 176, added: { XCG: 2 }, withdrawn: ['ANG'] },
  // At once (early 2025): the Cuban convertible peso, out of circulation since June 2021.
  { number: 178, added: {}, withdrawn: ['CUC'] },
  // From 2025-05-12: the Arab accounting dinar, a funds code.
  { number: 179, added: { XAD: 2 }, withdrawn: [] },
  // From 2026-01-01: Bulgaria in the euro area.
  { number: 180, added: {}, withdrawn: ['BGN'] },
];

const [file] = process.argv.slice(2);
if (file === undefined) {
  console.error('usage: node scripts/make-currency-table.mjs LIST-ONE.XML');
  process.exit(2);
}
const xml = readFileSync(file, 'utf8');
const published = /<ISO_4217 Pblshd="([\d-]+)"/.exec(xml)?.[1];
if (published === undefined) throw new Error(`${file} is not list one of ISO 4217`);
const digits_of = new Map();
for (const [, entry] of xml.matchAll(/<CcyNtry>([\s\S]*?)<\/CcyNtry>/g)) {
  const code = /<Ccy>([A-Z]{3})<\/Ccy>/.exec(entry)?.[1];
  // "N.A." stands for metals, units of account and codes for tests: an amount in minor units has no meaning in them.
  const digits = /<CcyMnrUnts>(\d)<\/CcyMnrUnts>/.exec(entry)?.[1];
  if (code !== undefined && digits !== undefined) digits_of.set(code, Number(digits));
}
const before = existsSync(TARGET) ? JSON.parse(readFileSync(TARGET, 'utf8')) : { active: {}, withdrawn: {} };
const withdrawn_now = new Set(AMENDMENTS.flatMap((amendment) => amendment.withdrawn));
const known = new Map([
  ...Object.entries({ ...before.withdrawn, ...before.active }),
  ...AMENDMENTS.flatMap((amendment) => Object.entries(amendment.added)),
  ...digits_of,
]);
const added = new Set(AMENDMENTS.flatMap((amendment) => Object.keys(amendment.added)));
const isActive = (code) => (digits_of.has(code) || added.has(code)) && !withdrawn_now.has(code);
const sorted = [...known].sort(([a], [b]) => (a < b ? -1 : 1));
writeFileSync(
  TARGET,
  `${JSON.stringify(
    {
      source: 'ISO 4217 list one, SIX Group, taken by scripts/make-currency-table.mjs',
      published,
      amendments: AMENDMENTS.map((amendment) => amendment.number),
      active: Object.fromEntries(sorted.filter(([code]) => isActive(code))),
      withdrawn: Object.fromEntries(sorted.filter(([code]) => !isActive(code))),
    },
    null,
    2,
  )}\n`,
);
console.log(`${sorted.filter(([code]) => isActive(code)).length} active currencies, list of ${published}`);
