import { createHash } from 'node:crypto';
import { DOCS_THEMES, type DocsTheme, MAX_DOCS_SEARCH } from '@purser/contract/values/docs';
import type { Call } from '../http/route.ts';
import { brandVariables, MONO, SANS } from './brand.ts';
import { esc } from './html.ts';

const WORDS: Record<DocsTheme, string> = { system: 'Auto', light: 'Light', dark: 'Dark' };
/** The reader's choice. The pages run no script, so the service has to know it. */
const COOKIE = 'purser_docs_theme';
const COOKIE_SECONDS = 365 * 86_400;

/** The places that every page names, in their order. */
const PLACES = { '/console/': 'Console', '/docs/guides': 'Guides', '/docs': 'API reference' } as const;

/** The style of all pages below `/docs`: the colours of the console, and the bar with the search. */
const FRAME_STYLE = `
:root { color-scheme: light dark; ${brandVariables()} }
[data-theme=light] { color-scheme: light; } [data-theme=dark] { color-scheme: dark; }
* { box-sizing: border-box; }
html { scroll-padding-top: 4.5rem; }
body { margin: 0; background: var(--surface); color: var(--text); font: 16px/1.6 ${SANS}; }
a { color: var(--accent); }
a:focus-visible, summary:focus-visible, input:focus-visible, button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
code, pre { font-family: ${MONO}; }
.skip { position: absolute; left: -999px; } .skip:focus { left: 1rem; top: 1rem; z-index: 2; background: var(--surface); padding: .4rem .8rem; }
header { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; gap: .6rem 1.5rem; align-items: center; min-height: 3.6rem; padding: .6rem 1.5rem; background: var(--canvas); border-bottom: 1px solid var(--line); }
.brand { display: flex; gap: .55rem; align-items: center; font-weight: 650; letter-spacing: -.01em; color: var(--text); text-decoration: none; }
.brand svg { width: 1.6rem; height: 1.6rem; }
header form { display: flex; gap: .4rem; flex: 1 1 16rem; max-width: 32rem; }
header input { flex: 1; min-width: 0; padding: .35rem .7rem; font: inherit; font-size: .9rem; color: var(--text); background: var(--surface); border: 1px solid var(--faint); border-radius: 6px; }
header button { padding: .35rem .8rem; font: inherit; font-size: .9rem; color: var(--text); background: var(--surface); border: 1px solid var(--faint); border-radius: 6px; }
header nav { display: flex; gap: 1rem; font-size: .9rem; } header nav a { text-decoration: none; } header nav a[aria-current] { color: var(--text); font-weight: 600; }
header .themes { gap: .2rem; } .themes a { padding: .15rem .5rem; border-radius: 5px; color: var(--soft); text-decoration: none; } .themes a[aria-current] { background: var(--sunken); }
main:focus { outline: 0; }
h1, h2, h3 { line-height: 1.25; } h2:has(+ .found) { margin-top: 1.6rem; }
.found { max-width: 48rem; padding-left: 1.2rem; } .found p { margin: .1rem 0 1rem; color: var(--soft); font-size: .92rem; overflow-wrap: anywhere; }
@media (max-width: 56rem) { header { position: static; } html { scroll-padding-top: 1rem; } }
@media print { :root[data-theme] { color-scheme: light; } header, .contents { display: none; } .layout { display: block; } }
`;

/** The mark of the console, which these pages cannot load from elsewhere without another request. */
const MARK =
  '<svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#1f2a44"/><path d="M10 24V8h7.2c3.4 0 5.8 2.1 5.8 5.3s-2.4 5.4-5.8 5.4H13.4V24z" fill="none" stroke="#fff" stroke-width="2.6" stroke-linejoin="round"/><circle cx="17" cy="13.3" r="1.9" fill="#6ee7b7"/></svg>';

/** A page below `/docs` within its frame. */
export interface DocsPage {
  title: string;
  /** HTML of the list beside the text, and its name. */
  contents: { name: string; html: string };
  /** HTML of the text. */
  body: string;
  /** The page among the places of the frame. */
  place: '/docs' | '/docs/guides';
  theme: DocsTheme;
  /** The search that the page answers; empty for none. */
  q: string;
}

/** Pages with one style sheet of their own after that of the frame. */
export interface DocsFrame {
  headers: Record<string, string>;
  render(page: DocsPage): string;
}

/** Makes the frame of pages. Their Content-Security-Policy allows that style sheet, pictures of this service and nothing else. */
export function makeDocsFrame(own_style: string): DocsFrame {
  const style = `${FRAME_STYLE}${own_style}`;
  return {
    headers: {
      'content-security-policy': [
        "default-src 'none'",
        `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
        "img-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
      ].join('; '),
      'referrer-policy': 'same-origin',
      'cache-control': 'no-cache',
      vary: 'cookie',
    },
    render: (page) => renderPage(page, style),
  };
}

function renderPage({ title, contents, body, place, theme, q }: DocsPage, style: string): string {
  const query = q === '' ? '' : `q=${encodeURIComponent(q)}&amp;`;
  const themes = DOCS_THEMES.map(
    (each) =>
      `<a href="?${query}theme=${each}"${each === theme ? ' aria-current="true"' : ''}>${WORDS[each]}</a>`,
  );
  const places = Object.entries(PLACES).map(
    ([href, name]) => `<a href="${href}"${href === place ? ' aria-current="true"' : ''}>${name}</a>`,
  );
  return `<!doctype html>
<html lang="en"${theme === 'system' ? '' : ` data-theme="${theme}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${esc(title)}</title>
<link rel="icon" href="/console/icon.svg" type="image/svg+xml">
<style>${style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<header>
<a class="brand" href="${place}">${MARK}Purser</a>
<form action="/docs" role="search"><input type="search" name="q" aria-label="Search guides and API reference" placeholder="Search guides and API reference" maxlength="${MAX_DOCS_SEARCH}" value="${esc(q)}"><button>Search</button></form>
<nav aria-label="Service">${places.join('')}</nav>
<nav class="themes" aria-label="Colours">${themes.join('')}</nav>
</header>
<div class="layout">
<nav class="contents" aria-label="${contents.name}">${contents.html}</nav>
<main id="main" tabindex="-1">${body}</main>
</div>
</body>
</html>
`;
}

/** Returns light or dark for a request, and the header that keeps a choice for the next pages. */
export function themeOf({ query, headers }: Pick<Call, 'query' | 'headers'>): {
  theme: DocsTheme;
  kept: Record<string, string>;
} {
  const chosen = DOCS_THEMES.find((theme) => theme === query.theme);
  if (chosen !== undefined) {
    const cookie = `${COOKIE}=${chosen}; Path=/docs; Max-Age=${COOKIE_SECONDS}; SameSite=Lax; HttpOnly`;
    return { theme: chosen, kept: { 'set-cookie': cookie } };
  }
  const cookies = String(headers.cookie ?? '').split(/;\s*/);
  return { theme: DOCS_THEMES.find((each) => cookies.includes(`${COOKIE}=${each}`)) ?? 'system', kept: {} };
}

/** An answer with a page. */
export const pageAnswer = (content: string | Buffer, headers: Record<string, string>) => ({
  status: 200 as const,
  headers,
  text: { content, content_type: 'text/html; charset=utf-8' },
});
