import { brandVariables, MONO, SANS } from '../pages/brand.ts';

/** The style of the guides, light or dark as the reader's system is or as they chose. */
export const GUIDES_STYLE = `
:root { color-scheme: light dark; ${brandVariables()} }
[data-theme=light] { color-scheme: light; } [data-theme=dark] { color-scheme: dark; }
* { box-sizing: border-box; }
html { scroll-padding-top: 4.5rem; }
body { margin: 0; background: var(--surface); color: var(--text); font: 16px/1.6 ${SANS}; }
a { color: var(--accent); }
a:focus-visible, input:focus-visible, button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
.skip { position: absolute; left: -999px; } .skip:focus { left: 1rem; top: 1rem; z-index: 2; background: var(--surface); padding: .4rem .8rem; }
header { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; gap: .6rem 1.5rem; align-items: center; padding: .7rem 1.5rem; background: var(--canvas); border-bottom: 1px solid var(--line); }
.brand { font-weight: 700; color: var(--text); text-decoration: none; }
header form { display: flex; gap: .4rem; flex: 1 1 16rem; max-width: 32rem; }
header input { flex: 1; min-width: 0; padding: .35rem .7rem; font: inherit; font-size: .9rem; color: var(--text); background: var(--surface); border: 1px solid var(--faint); border-radius: 6px; }
header button { padding: .35rem .8rem; font: inherit; font-size: .9rem; color: var(--text); background: var(--surface); border: 1px solid var(--faint); border-radius: 6px; }
header nav { display: flex; gap: 1rem; font-size: .9rem; }
header .themes { gap: .2rem; } .themes a { padding: .15rem .5rem; border-radius: 5px; color: var(--soft); text-decoration: none; } .themes a[aria-current] { background: var(--sunken); color: var(--text); font-weight: 600; }
.layout { display: grid; grid-template-columns: 17rem minmax(0, 1fr); max-width: 82rem; margin: 0 auto; }
.contents { padding: 1.5rem; font-size: .88rem; border-right: 1px solid var(--line); }
.contents h2 { font-size: .74rem; letter-spacing: .06em; text-transform: uppercase; color: var(--faint); margin: 1.2rem 0 .3rem; }
.contents ul { list-style: none; margin: 0; padding: 0; }
.contents a { display: block; padding: .22rem .5rem; margin-left: -.5rem; border-radius: 5px; color: var(--soft); text-decoration: none; }
.contents a:hover { background: var(--sunken); } .contents a[aria-current] { background: var(--sunken); color: var(--accent); font-weight: 600; }
main { padding: 1.8rem 2.5rem 5rem; max-width: 56rem; min-width: 0; }
main:focus { outline: 0; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 1rem; letter-spacing: -.02em; }
main h2 { font-size: 1.35rem; line-height: 1.3; margin: 2.2rem 0 .6rem; } main h3 { font-size: 1.08rem; margin: 1.6rem 0 .4rem; }
code, pre { font-family: ${MONO}; font-size: .86em; }
code { background: var(--sunken); padding: .1em .3em; border-radius: 4px; overflow-wrap: anywhere; }
pre { padding: .9rem 1rem; overflow-x: auto; background: var(--sunken); border: 1px solid var(--line); border-radius: 8px; line-height: 1.5; }
pre code { padding: 0; background: none; overflow-wrap: normal; }
table { display: block; overflow-x: auto; border-collapse: collapse; font-size: .9em; }
th, td { text-align: left; vertical-align: top; padding: .45rem .9rem .45rem 0; border-bottom: 1px solid var(--line); min-width: 6rem; }
th { color: var(--soft); }
img { max-width: 100%; height: auto; border: 1px solid var(--line); border-radius: 8px; }
.found { padding-left: 1.2rem; } .found p { margin: .1rem 0 1rem; color: var(--soft); font-size: .92rem; overflow-wrap: anywhere; }
@media (max-width: 56rem) {
  header { position: static; }
  .layout { display: flex; flex-direction: column-reverse; }
  .contents { border-right: 0; border-top: 1px solid var(--line); }
  main { padding: 1.4rem 1.2rem 3rem; }
}
@media print { :root[data-theme] { color-scheme: light; } header, .contents { display: none; } .layout { display: block; } }
`;
