import type { Search } from './search.ts';

/** A target of the palette. */
export interface Destination {
  /** Unique among all places. */
  value: string;
  label: string;
  hint: string;
  to: string;
  search: Search;
}

const SCREENS: readonly (readonly [label: string, to: string, keys: string])[] = [
  ['Inbox', '/reviews', 'g i'],
  ['Overview', '/', 'g o'],
  ['Decisions', '/decisions', 'g d'],
  ['Agents', '/agents', 'g a'],
  ['Budgets', '/budgets', 'g b'],
  ['Shadow report', '/report', 'g r'],
  ['Notifications', '/notifications', 'g n'],
  ['Webhooks', '/webhooks', 'g w'],
  ['Ledger', '/ledger', 'g l'],
  ['Audit', '/audit', 'g u'],
  ['Keys', '/keys', 'g k'],
  ['Team', '/team', 'g t'],
  ['Settings', '/settings', 'g s'],
  ['Your account', '/me', 'g m'],
];

/** Shortcuts that go to a screen, with its name. */
export const GO_KEYS: readonly (readonly [keys: string, label: string])[] = SCREENS.map(([label, , keys]) => [
  keys,
  label,
]);

/** The screen for the second key after `g`. Undefined if there is none. */
export const screenOfKey = (key: string): string | undefined =>
  SCREENS.find(([, , keys]) => keys === `g ${key}`)?.[1];

function placesOfId(text: string): Destination[] {
  const [, kind] = /^(dec|agt|wh|evt|key|usr|bud)_[0-9A-Za-z]{4,}$/.exec(text) ?? [];
  const place = (label: string, to: string, search: Search = {}): Destination[] => [
    { value: `id:${text}`, label: `${label} ${text}`, hint: 'by ID', to, search },
  ];
  if (kind === 'dec') return place('Decision', `/decisions/${text}`);
  if (kind === 'agt') return place('Agent', `/agents/${text}`);
  if (kind === 'wh') return place('Webhook', `/webhooks/${text}`);
  if (kind !== undefined) return place('In the audit:', '/audit', { target: text });
  return [];
}

const has = (text: string, ...words: string[]) =>
  text
    .toLowerCase()
    .split(/\s+/)
    .every((part) => words.some((word) => word.toLowerCase().includes(part)));

/** Finds the targets that match a typed text, the most specific first. */
export function placesFor(
  typed: string,
  agents: readonly { slug: string; name: string }[],
): { value: string; items: Destination[] }[] {
  const text = typed.trim();
  const screens = SCREENS.filter(([label]) => has(text, label)).map(
    ([label, to, keys]): Destination => ({ value: `screen:${to}`, label, hint: keys, to, search: {} }),
  );
  // In an emergency people type the action, not its screen.
  const stop: Destination[] = has(text, 'Stop all agents')
    ? [{ value: 'action:stop', label: 'Stop all agents', hint: 'Settings', to: '/settings', search: {} }]
    : [];
  const own = agents
    .filter((each) => text !== '' && has(text, each.slug, each.name))
    .slice(0, 8)
    .flatMap(({ slug, name }): Destination[] => [
      { value: `agent:${slug}`, label: name, hint: slug, to: `/agents/${slug}`, search: {} },
      {
        value: `authority:${slug}`,
        label: `Policy of ${name}`,
        hint: slug,
        to: `/agents/${slug}/authority`,
        search: {},
      },
    ]);
  const searches: Destination[] =
    text === '' || placesOfId(text).length > 0
      ? []
      : [
          {
            value: 'search:decisions',
            label: `Decisions with “${text}” in the merchant name`,
            hint: 'search',
            to: '/decisions',
            search: { q: text },
          },
        ];
  return [
    { value: 'By ID', items: placesOfId(text) },
    { value: 'Go to', items: screens },
    { value: 'Actions', items: text === '' ? [] : stop },
    { value: 'Agents', items: own },
    { value: 'Search', items: searches },
  ].filter((group) => group.items.length > 0);
}
