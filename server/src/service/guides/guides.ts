import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Fields, Line, OneOf } from '@purser/contract/schema';
import { ApiError } from '@purser/rules/errors';
import Type from 'typebox';
import type { Answer, Call, Route } from '../http/route.ts';
import { esc } from '../pages/html.ts';
import { GUIDES_STYLE } from './guides-style.ts';

/** A page as the build rendered it: `html` has no HTML of its author's. */
interface GuidePage {
  slug: string;
  title: string;
  group: string;
  html: string;
  sections: { id: string; title: string; text: string }[];
}

const PATH = '/docs/guides';
const MAX_QUERY = 100;
const MAX_FOUND = 20;
const AROUND = 80;

const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];
const WORDS: Record<Theme, string> = { system: 'Auto', light: 'Light', dark: 'Dark' };
/** The reader's choice. The pages run no script, so the service has to know it. */
const COOKIE = 'purser_guides_theme';
const COOKIE_SECONDS = 365 * 86_400;
const ThemeQuery = { theme: Type.Optional(OneOf(THEMES)) };

const HEADERS: Record<string, string> = {
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(GUIDES_STYLE).digest('base64')}'`,
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'same-origin',
  'cache-control': 'no-cache',
};

/** Reads what the build wrote; nothing where the guides were not built. */
function readPages(directory: string): { pages: GuidePage[]; images: ReadonlyMap<string, Buffer> } {
  try {
    const pages = JSON.parse(readFileSync(join(directory, 'pages.json'), 'utf8')) as GuidePage[];
    const folder = join(directory, 'images');
    return {
      pages,
      images: new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))])),
    };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { pages: [], images: new Map() };
    throw error;
  }
}

function contents(pages: readonly GuidePage[], current: string | null): string {
  return [...new Set(pages.map(({ group }) => group))]
    .map((group) => {
      const links = pages
        .filter((page) => page.group === group)
        .map(
          ({ slug, title }) =>
            `<li><a href="${PATH}/${slug}"${slug === current ? ' aria-current="page"' : ''}>${esc(title)}</a></li>`,
        );
      return `<h2>${group}</h2><ul>${links.join('')}</ul>`;
    })
    .join('');
}

function render(
  pages: readonly GuidePage[],
  title: string,
  body: string,
  now: { slug: string | null; q: string; theme: Theme },
) {
  const query = now.q === '' ? '' : `q=${encodeURIComponent(now.q)}&amp;`;
  const themes = THEMES.map(
    (theme) =>
      `<a href="?${query}theme=${theme}"${theme === now.theme ? ' aria-current="true"' : ''}>${WORDS[theme]}</a>`,
  );
  return `<!doctype html>
<html lang="en"${now.theme === 'system' ? '' : ` data-theme="${now.theme}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${esc(title)} · Purser</title>
<style>${GUIDES_STYLE}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<header>
<a class="brand" href="${PATH}">Purser guides</a>
<form action="${PATH}" role="search"><input type="search" name="q" aria-label="Search the guides" placeholder="Search the guides" maxlength="${MAX_QUERY}" value="${esc(now.q)}"><button>Search</button></form>
<nav aria-label="Service"><a href="/console/">Console</a><a href="/docs">API reference</a></nav>
<nav class="themes" aria-label="Colours">${themes.join('')}</nav>
</header>
<div class="layout">
<nav class="contents" aria-label="Guides">${contents(pages, now.slug)}</nav>
<main id="main" tabindex="-1">${body}</main>
</div>
</body>
</html>
`;
}

/** Returns the sections that have every word, those with the words in their titles first. */
function found(pages: readonly GuidePage[], q: string) {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  return pages
    .flatMap((page) =>
      page.sections.map((section) => {
        const title = `${page.title} ${section.title}`.toLowerCase();
        const text = section.text.toLowerCase();
        const hits = words.every((word) => title.includes(word) || text.includes(word));
        return { page, section, rank: hits ? 1 + words.filter((word) => title.includes(word)).length : 0 };
      }),
    )
    .filter(({ rank }) => rank > 0)
    .sort((a, b) => b.rank - a.rank)
    .slice(0, MAX_FOUND)
    .map(({ page, section }) => {
      const at = Math.max(0, section.text.toLowerCase().indexOf(words[0] ?? '') - AROUND);
      return { page, section, text: section.text.slice(at, at + 3 * AROUND).trim() };
    });
}

function results(pages: readonly GuidePage[], q: string): string {
  const all = found(pages, q);
  if (all.length === 0)
    return `<h1>Nothing found for “${esc(q)}”</h1><p>Try fewer or other words, or choose a guide from the list.</p>`;
  const items = all.map(({ page, section, text }) => {
    const hash = section.id === '' ? '' : `#${section.id}`;
    const title = section.id === '' ? page.title : `${page.title}: ${section.title}`;
    return `<li><a href="${PATH}/${page.slug}${esc(hash)}">${esc(title)}</a><p>…${esc(text)}…</p></li>`;
  });
  return `<h1>Results for “${esc(q)}”</h1><ol class="found">${items.join('')}</ol>`;
}

const cookiesOf = ({ cookie }: Call['headers']): string[] => String(cookie ?? '').split(/;\s*/);

const notFound = () => new ApiError('not_found', 'No such guide: /docs/guides lists them.');

/** Makes the routes of the guides, which are answered from memory. None where they were not built. */
export function makeGuideRoutes(directory: string): Route[] {
  const { pages, images } = readPages(directory);
  if (pages.length === 0) return [];
  const page = (
    { query, headers }: Call,
    title: string,
    body: string,
    now: { slug: string | null; q: string },
  ): Answer => {
    const chosen = THEMES.find((theme) => theme === query.theme);
    const theme =
      chosen ?? THEMES.find((each) => cookiesOf(headers).includes(`${COOKIE}=${each}`)) ?? 'system';
    const keep = `${COOKIE}=${theme}; Path=${PATH}; Max-Age=${COOKIE_SECONDS}; SameSite=Lax; HttpOnly`;
    return {
      status: 200,
      headers: { ...HEADERS, vary: 'cookie', ...(chosen === undefined ? {} : { 'set-cookie': keep }) },
      text: {
        content: render(pages, title, body, { ...now, theme }),
        content_type: 'text/html; charset=utf-8',
      },
    };
  };
  const shared = {
    method: 'GET',
    tag: 'Service',
    scopes: 'public',
    description: 'For people.',
    responses: { 200: { description: 'The page.', schema: Type.String() } },
    errors: ['rate_limited', 'not_found', 'unavailable'],
  } as const;
  return [
    {
      ...shared,
      path: PATH,
      operationId: 'getGuides',
      summary: 'The guides, and a search over them.',
      query: Fields({ q: Type.Optional(Line({ max: MAX_QUERY, min: 0 })), ...ThemeQuery }),
      async handler(call: Call) {
        const q = typeof call.query.q === 'string' ? call.query.q : '';
        if (q !== '') return page(call, 'Search', results(pages, q), { slug: null, q });
        const [first] = pages as [GuidePage];
        return page(call, first.title, first.html, { slug: first.slug, q });
      },
    },
    {
      ...shared,
      path: `${PATH}/:page`,
      operationId: 'getGuide',
      summary: 'One guide.',
      query: Fields(ThemeQuery),
      async handler(call: Call) {
        const wanted = pages.find(({ slug }) => slug === call.params.page);
        if (wanted === undefined) throw notFound();
        return page(call, wanted.title, wanted.html, { slug: wanted.slug, q: '' });
      },
    },
    {
      ...shared,
      path: `${PATH}/images/:file`,
      operationId: 'getGuideImage',
      summary: 'A picture of a guide.',
      serves_files: true,
      async handler(call: Call) {
        const content = images.get(call.params.file ?? '');
        if (content === undefined) throw notFound();
        return {
          status: 200,
          headers: { 'cache-control': 'no-cache' },
          text: { content, content_type: 'image/png' },
        };
      },
    },
  ];
}
