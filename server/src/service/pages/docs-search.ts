import { esc } from './html.ts';

/** A part of a document that a search can find. */
export interface DocsSection {
  href: string;
  title: string;
  /** Plain text. */
  text: string;
}

/** Results of all groups together. */
const MAX_FOUND = 20;
const AROUND = 80;

/** Returns the sections that have every word, those with the words in their titles first. */
function find(sections: readonly DocsSection[], q: string, most: number) {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  return sections
    .map((section) => {
      const title = section.title.toLowerCase();
      const text = section.text.toLowerCase();
      const hits = words.every((word) => title.includes(word) || text.includes(word));
      return { section, rank: hits ? 1 + words.filter((word) => title.includes(word)).length : 0 };
    })
    .filter(({ rank }) => rank > 0)
    .sort((a, b) => b.rank - a.rank)
    .slice(0, most)
    .map(({ section }) => {
      const at = Math.max(0, section.text.toLowerCase().indexOf(words[0] ?? '') - AROUND);
      return { ...section, text: section.text.slice(at, at + 3 * AROUND).trim() };
    });
}

/** Renders the sections with every word of `q`, group by group; the words that were typed appear as text. */
export function renderFound(groups: Readonly<Record<string, readonly DocsSection[]>>, q: string): string {
  const most = Math.ceil(MAX_FOUND / Object.keys(groups).length);
  const lists = Object.entries(groups).map(([name, sections]) => {
    const items = find(sections, q, most).map(
      ({ href, title, text }) => `<li><a href="${esc(href)}">${esc(title)}</a><p>…${esc(text)}…</p></li>`,
    );
    return items.length === 0 ? '' : `<h2>${name}</h2><ol class="found">${items.join('')}</ol>`;
  });
  return lists.every((list) => list === '')
    ? `<h1>Nothing found for “${esc(q)}”</h1><p>Try fewer or other words, or choose a page from the list.</p>`
    : `<h1>Results for “${esc(q)}”</h1>${lists.join('')}`;
}
