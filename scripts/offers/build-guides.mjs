// Renders the guides and the reference pages for `/docs/guides` into `dist/guides`: HTML without any of their own, and the
// text of each section for the search.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import MarkdownIt from 'markdown-it';
import { ROOT } from '../prepare.mjs';

const DOCS = join(ROOT, 'docs');
const TO = join(ROOT, 'dist', 'guides');
/** The folders of the pages, with the words of their groups. */
const GROUPS = [
  ['guides', 'Guides', ''],
  ['reference', 'Reference', 'reference-'],
];
/** Shown first, in this order; the others follow by their titles. */
const FIRST = ['first-steps', 'for-reviewers', 'for-finance', 'for-auditors', 'troubleshooting', 'packages'];

const markdown = new MarkdownIt({ html: false, linkify: false, typographer: false });

/** The id of a heading, as GitHub makes it. */
const idOf = (text) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

const slugs = new Map();
for (const [folder, , prefix] of GROUPS)
  for (const file of readdirSync(join(DOCS, folder)).filter((name) => name.endsWith('.md')))
    slugs.set(`${folder}/${file}`, `${prefix}${file.slice(0, -'.md'.length)}`);

/** Where a link of a page leads within the service; null if there is nothing. */
/** The words of a token without the marks of Markdown, for the search. */
const plainText = ({ type, content, children }) =>
  type === 'fence'
    ? content
    : children.map((each) => (each.type.endsWith('break') ? ' ' : each.content)).join('');

function resolved(folder, href) {
  if (/^(https?:|\/|#)/.test(href)) return href;
  const [path, hash] = href.split('#');
  const parts = [folder];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  const slug = slugs.get(parts.join('/'));
  if (slug !== undefined) return `/docs/guides/${slug}${hash === undefined ? '' : `#${hash}`}`;
  return /^images\/[\w-]+\.png$/.test(path) ? `/docs/guides/images/${path.slice('images/'.length)}` : null;
}

/** Makes one page: its headings get ids, its links lead to pages of the service, and others lose their address. */
function pageOf(folder, file, group) {
  const tokens = markdown.parse(readFileSync(join(DOCS, folder, file), 'utf8'), {});
  const sections = [{ id: '', title: '', text: '' }];
  let title = file;
  tokens.forEach((token, i) => {
    if (token.type === 'heading_open') {
      const text = tokens[i + 1].children.map((child) => child.content).join('');
      if (token.tag === 'h1') title = text;
      token.attrSet('id', idOf(text));
      sections.push({ id: token.tag === 'h1' ? '' : idOf(text), title: text, text: '' });
    }
    if (token.type === 'inline') {
      for (const child of token.children) {
        if (child.type === 'link_open') {
          const to = resolved(folder, child.attrGet('href'));
          child.attrs = to === null ? [] : [['href', to]];
        }
        if (child.type === 'image') child.attrSet('src', resolved(folder, child.attrGet('src')) ?? '');
      }
    }
    if (token.type === 'inline' || token.type === 'fence') sections.at(-1).text += `${plainText(token)}\n`;
  });
  const html = markdown.renderer.render(tokens, markdown.options, {});
  return {
    slug: slugs.get(`${folder}/${file}`),
    title,
    group,
    html,
    sections: sections.filter(({ text }) => text !== ''),
  };
}

const pages = GROUPS.flatMap(([folder, group]) =>
  readdirSync(join(DOCS, folder))
    .filter((name) => name.endsWith('.md'))
    .map((file) => pageOf(folder, file, group))
    .sort((a, b) => {
      const [one, other] = [a, b].map(({ slug }) =>
        FIRST.includes(slug) ? FIRST.indexOf(slug) : FIRST.length,
      );
      return one - other || (a.title < b.title ? -1 : 1);
    }),
);
rmSync(TO, { recursive: true, force: true });
mkdirSync(TO, { recursive: true });
writeFileSync(join(TO, 'pages.json'), JSON.stringify(pages));
cpSync(join(DOCS, 'guides', 'images'), join(TO, 'images'), { recursive: true });
