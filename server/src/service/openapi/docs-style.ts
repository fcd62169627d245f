/** The style of the reference page, light or dark as the reader's system is. */
export const DOCS_STYLE = `
:root {
  color-scheme: light dark;
  --page: #ffffff; --panel: #f6f7f9; --line: #e3e7ed; --text: #161b26; --soft: #4c5668;
  --accent: #3446c4; --code: #f2f4f6; --code-text: #24303a;
  --get: #0b62a8; --post: #0a6c52; --patch: #8a5a00; --delete: #b3261e;
  --good: #0a6c52; --bad: #a3302a;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14181d; --panel: #0d1014; --line: #262c35; --text: #e8ebf0; --soft: #aab3c0;
    --accent: #a4b1ff; --code: #1b2126; --code-text: #d5dde4;
    --get: #6db5f2; --post: #5ecba8; --patch: #e0b04f; --delete: #f28b82;
    --good: #5ecba8; --bad: #f28b82;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1.5rem; }
body {
  margin: 0; background: var(--page); color: var(--text);
  font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif;
}
a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
code, pre { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
code { background: var(--code); color: var(--code-text); border-radius: 4px; padding: .1em .35em; font-size: .86em; overflow-wrap: anywhere; }
pre {
  margin: 0; padding: .9rem 1rem; overflow-x: auto; background: var(--code); color: var(--code-text);
  border: 1px solid var(--line); border-radius: 8px; font-size: .8rem; line-height: 1.55; tab-size: 2;
}
pre code { background: none; padding: 0; font-size: inherit; overflow-wrap: normal; }
h1, h2, h3, h4 { line-height: 1.25; margin: 0; font-weight: 650; }
h1 { font-size: 2rem; letter-spacing: -.02em; }
h2 { font-size: 1.5rem; letter-spacing: -.015em; }
h3 { font-size: 1.15rem; }
h4 { font-size: .76rem; letter-spacing: .06em; text-transform: uppercase; color: var(--soft); margin: 1.6rem 0 .5rem; }
p { margin: .6rem 0; }
ul.prose { margin: .6rem 0; padding-left: 1.3rem; }

.layout { display: grid; grid-template-columns: 17.5rem minmax(0, 1fr); }
nav {
  position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.75rem 1rem 2rem 1.5rem;
  background: var(--panel); border-right: 1px solid var(--line); font-size: .875rem;
}
nav .name { display: block; font-weight: 700; font-size: 1.1rem; color: var(--text); letter-spacing: -.01em; }
nav .version { color: var(--soft); font-size: .8rem; }
nav h4 { margin: 1.4rem 0 .35rem; }
nav ol { list-style: none; margin: 0; padding: 0; }
nav li a { display: flex; gap: .5rem; align-items: baseline; padding: .22rem .4rem; margin-left: -.4rem; border-radius: 5px; color: var(--text); }
nav li a:hover { background: var(--line); text-decoration: none; }
nav .method { flex: none; width: 3.1rem; font-size: .62rem; }

main { padding: 2.5rem 3rem 6rem; max-width: 84rem; }
header { max-width: 46rem; }
header .lead { font-size: 1.1rem; color: var(--soft); margin: .4rem 0 1.2rem; }
.group { margin-top: 4rem; padding-top: 2rem; border-top: 2px solid var(--line); }
.group > p { color: var(--soft); max-width: 46rem; }
article { margin-top: 2.2rem; padding-top: 2.2rem; border-top: 1px solid var(--line); }
.group > p + article { border-top: 0; padding-top: 0; }
.columns { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 27rem); gap: 2.5rem; align-items: start; }
.aside { position: sticky; top: 1.5rem; }
.aside h4:first-child { margin-top: .2rem; }
.endpoint { display: flex; flex-wrap: wrap; gap: .6rem; align-items: center; margin: .7rem 0 .3rem; }
.endpoint .path { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .92rem; overflow-wrap: anywhere; }
.endpoint .path b { color: var(--accent); font-weight: 600; }
.method { font: 700 .7rem/1 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; letter-spacing: .04em; }
.endpoint .method { padding: .35rem .5rem; border-radius: 5px; border: 1px solid currentColor; }
.get { color: var(--get); } .post { color: var(--post); } .patch { color: var(--patch); } .delete { color: var(--delete); }
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
.needed { display: block; color: var(--bad); font-size: .72rem; margin-top: .15rem; }
.status { font: 650 .82rem/1.6 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: nowrap; }
td.also { color: var(--soft); font-size: .82rem; }
.codes { line-height: 1.9; }
.codes a { margin-right: .15rem; }
tr:target td { background: var(--panel); }
.good { color: var(--good); } .bad { color: var(--bad); }
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
  nav { position: static; height: auto; max-height: 20rem; border-right: 0; border-bottom: 1px solid var(--line); }
  main { padding: 1.75rem 1.25rem 4rem; }
}
@media print {
  nav { display: none; } .layout { display: block; } .columns { grid-template-columns: 1fr; } .aside { position: static; }
}
`;
