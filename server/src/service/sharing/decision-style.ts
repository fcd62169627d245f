import { brandVariables, MONO, SANS } from '../pages/brand.ts';

/** The style of a decision's page: light, since it is made for paper, and one A4 page for an ordinary decision. */
export const DECISION_STYLE = `
@page { size: A4; margin: 12mm 14mm; }
:root { color-scheme: light; ${brandVariables('light')} }
* { box-sizing: border-box; }
body { margin: 0; background: var(--canvas); color: var(--text); font: 13px/1.45 ${SANS}; }
main { max-width: 794px; margin: 1.5rem auto; padding: 2.2rem 2.6rem; background: var(--surface); border: 1px solid var(--line); border-radius: 10px; }
header { display: flex; justify-content: space-between; gap: 1rem; border-bottom: 2px solid var(--accent); padding-bottom: .5rem; }
.brand { color: var(--accent); font-weight: 700; }
.shared { margin: .7rem 0 0; padding: .5rem .8rem; background: var(--sunken); border-radius: 6px; }
h1 { font-size: 1.5rem; line-height: 1.2; margin: .8rem 0 .2rem; overflow-wrap: anywhere; }
h2 { font-size: .72rem; letter-spacing: .06em; text-transform: uppercase; color: var(--soft); margin: 1rem 0 .3rem; }
p { margin: .2rem 0; overflow-wrap: anywhere; }
.verdict { font-weight: 650; }
.ALLOW, .PASS { color: var(--allow); } .REVIEW, .LIMIT { color: var(--review); } .DENY { color: var(--deny); } .SKIPPED { color: var(--faint); }
dl { display: grid; grid-template-columns: 9.5rem minmax(0, 1fr); gap: .12rem .8rem; margin: 0; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; white-space: pre-line; }
table { width: 100%; border-collapse: collapse; font-size: .92em; }
th { text-align: left; font-weight: 600; color: var(--soft); border-bottom: 1px solid var(--line); padding: .12rem .6rem .12rem 0; }
td { vertical-align: top; border-bottom: 1px solid var(--line); padding: .16rem .6rem .16rem 0; overflow-wrap: anywhere; }
td:first-child, td:nth-child(2) { white-space: nowrap; }
.claims { margin-top: .3rem; border-left: 3px solid var(--line); padding-left: .7rem; }
code { font-family: ${MONO}; font-size: .86em; overflow-wrap: anywhere; }
footer { margin-top: 1rem; padding-top: .4rem; border-top: 1px solid var(--line); color: var(--faint); font-size: .88em; }
.gone { max-width: 34rem; margin: 20vh auto; padding: 0 1.5rem; }
@media (max-width: 640px) {
  main { margin: 0; padding: 1.1rem; border: 0; border-radius: 0; }
  dl { grid-template-columns: minmax(0, 1fr); } dd { margin-bottom: .35rem; }
  td:first-child { white-space: normal; }
}
@media print {
  html { font-size: 11px; }
  body { background: none; font-size: 8.4pt; line-height: 1.3; }
  header, .shared { margin-top: 0; padding-top: 0; }
  .shared { padding: .4rem .7rem; margin-top: .5rem; }
  main { max-width: none; margin: 0; padding: 0; border: 0; }
  h1 { font-size: 14pt; margin-top: .5rem; } h2 { margin-top: .55rem; }
  tr, dl > *, .claims { break-inside: avoid; } h2 { break-after: avoid; }
  .screen { display: none; }
}
`;
