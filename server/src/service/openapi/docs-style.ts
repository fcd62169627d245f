import { MONO } from '../pages/brand.ts';

/** The style of the reference within the frame of the pages below `/docs`. */
export const DOCS_STYLE = `
a { text-decoration: none; } a:hover { text-decoration: underline; }
code { background: var(--sunken); border-radius: 4px; padding: .1em .35em; font-size: .86em; overflow-wrap: anywhere; }
pre {
  margin: 0; padding: .9rem 1rem; overflow-x: auto; background: var(--sunken); color: var(--text);
  border: 1px solid var(--line); border-radius: 8px; font-size: .8rem; line-height: 1.55; tab-size: 2;
}
pre code { background: none; padding: 0; font-size: inherit; overflow-wrap: normal; }
h1, h2, h3, h4 { margin: 0; font-weight: 650; } h4 { line-height: 1.25; }
h1 { font-size: 2rem; letter-spacing: -.02em; }
h2 { font-size: 1.5rem; letter-spacing: -.015em; }
h3 { font-size: 1.15rem; }
h4 { font-size: .76rem; letter-spacing: .06em; text-transform: uppercase; color: var(--soft); margin: 1.6rem 0 .5rem; }
p { margin: .6rem 0; }
ul.prose { margin: .6rem 0; padding-left: 1.3rem; }

.layout { display: grid; grid-template-columns: 17.5rem minmax(0, 1fr); }
.contents {
  position: sticky; top: 3.6rem; height: calc(100vh - 3.6rem); overflow-y: auto; padding: 1.25rem 1rem 2rem 1.5rem;
  background: var(--canvas); border-right: 1px solid var(--line); font-size: .875rem;
}
.contents .version { color: var(--soft); font-size: .8rem; }
.contents h4 { margin: 1.4rem 0 .35rem; } .contents h4 a { color: inherit; }
.contents ol { list-style: none; margin: 0; padding: 0; }
.contents li a { display: flex; gap: .5rem; align-items: baseline; padding: .22rem .4rem; margin-left: -.4rem; border-radius: 5px; color: var(--text); }
.contents li a:hover { background: var(--sunken); text-decoration: none; }
.contents .method { flex: none; width: 3.1rem; font-size: .62rem; }

main { padding: 2.5rem 3rem 6rem; max-width: 84rem; }
main { min-width: 0; }
.intro { max-width: 46rem; }
.intro .lead { font-size: 1.1rem; color: var(--soft); margin: .4rem 0 1.2rem; }
.group { margin-top: 4rem; padding-top: 2rem; border-top: 2px solid var(--line); }
.group > p { color: var(--soft); max-width: 46rem; }
article { margin-top: 2.2rem; padding-top: 2.2rem; border-top: 1px solid var(--line); }
.group > p + article { border-top: 0; padding-top: 0; }
.columns { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 27rem); gap: 2.5rem; align-items: start; }
.aside { position: sticky; top: 4.6rem; }
.aside h4:first-child { margin-top: .2rem; }
.endpoint { display: flex; flex-wrap: wrap; gap: .6rem; align-items: center; margin: .7rem 0 .3rem; }
.endpoint .path { font-family: ${MONO}; font-size: .92rem; overflow-wrap: anywhere; }
.endpoint .path b { color: var(--accent); font-weight: 600; }
.method { font: 700 .7rem/1 ${MONO}; letter-spacing: .04em; }
.endpoint .method { padding: .35rem .5rem; border-radius: 5px; border: 1px solid currentColor; }
.get { color: var(--accent); } .post { color: var(--allow); } .patch { color: var(--review); } .delete { color: var(--deny); }
.scopes { color: var(--soft); font-size: .88rem; margin: .2rem 0 .6rem; }

.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: .875rem; }
th { text-align: left; font-weight: 600; color: var(--soft); font-size: .78rem; padding: .35rem .9rem .35rem 0; border-bottom: 1px solid var(--line); }
td { vertical-align: top; padding: .55rem .9rem .55rem 0; border-bottom: 1px solid var(--line); }
tr:last-child td { border-bottom: 0; }
td:first-child { min-width: 9.5rem; }
td:first-child code, table.errors code { white-space: nowrap; }
td p { margin: 0 0 .15rem; }
td .type { display: block; color: var(--soft); font-size: .82rem; overflow-wrap: anywhere; }
.needed { display: block; color: var(--deny); font-size: .72rem; margin-top: .15rem; }
.status { font: 650 .82rem/1.6 ${MONO}; white-space: nowrap; }
td.also { color: var(--soft); font-size: .82rem; }
.codes { line-height: 1.9; }
.codes a { margin-right: .15rem; }
tr:target td { background: var(--canvas); }
.good { color: var(--allow); } .bad { color: var(--deny); }
table.errors td:first-child, table.answers td:first-child { min-width: 3.6rem; width: 3.6rem; }
details { margin-top: .6rem; }
summary { cursor: pointer; color: var(--accent); font-size: .875rem; }
details[open] summary { margin-bottom: .5rem; }

@media (max-width: 75rem) {
  .columns { grid-template-columns: minmax(0, 1fr); gap: 0; }
  .aside { position: static; }
}
@media (max-width: 56rem) {
  .layout { display: block; }
  .contents { position: static; height: auto; max-height: 14rem; border-right: 0; border-bottom: 1px solid var(--line); }
  main { padding: 1.75rem 1.25rem 4rem; }
}
@media print {
  .columns { grid-template-columns: 1fr; } .aside { position: static; }
}
`;
