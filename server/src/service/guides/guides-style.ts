/** The style of the guides within the frame of the pages below `/docs`. */
export const GUIDES_STYLE = `
.layout { display: grid; grid-template-columns: 17rem minmax(0, 1fr); max-width: 82rem; margin: 0 auto; }
.contents { padding: 1.5rem; font-size: .88rem; border-right: 1px solid var(--line); }
.contents h2 { font-size: .74rem; letter-spacing: .06em; text-transform: uppercase; color: var(--faint); margin: 1.2rem 0 .3rem; }
.contents ul { list-style: none; margin: 0; padding: 0; }
.contents a { display: block; padding: .22rem .5rem; margin-left: -.5rem; border-radius: 5px; color: var(--soft); text-decoration: none; }
.contents a:hover { background: var(--sunken); } .contents a[aria-current] { background: var(--sunken); color: var(--accent); font-weight: 600; }
main { padding: 1.8rem 2.5rem 5rem; max-width: 56rem; min-width: 0; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 1rem; letter-spacing: -.02em; }
main h2 { font-size: 1.35rem; line-height: 1.3; margin: 2.2rem 0 .6rem; } main h3 { font-size: 1.08rem; margin: 1.6rem 0 .4rem; }
code, pre { font-size: .86em; }
code { background: var(--sunken); padding: .1em .3em; border-radius: 4px; overflow-wrap: anywhere; }
pre { padding: .9rem 1rem; overflow-x: auto; background: var(--sunken); border: 1px solid var(--line); border-radius: 8px; line-height: 1.5; }
pre code { padding: 0; background: none; overflow-wrap: normal; }
table { display: block; overflow-x: auto; border-collapse: collapse; font-size: .9em; }
th, td { text-align: left; vertical-align: top; padding: .45rem .9rem .45rem 0; border-bottom: 1px solid var(--line); min-width: 6rem; }
th { color: var(--soft); }
img { max-width: 100%; height: auto; border: 1px solid var(--line); border-radius: 8px; }
@media (max-width: 56rem) {
  .layout { display: flex; flex-direction: column-reverse; }
  .contents { border-right: 0; border-top: 1px solid var(--line); }
  main { padding: 1.4rem 1.2rem 3rem; }
}
`;
