import type { SearchHit } from '@purser/sdk';
import type { Search } from './search.ts';
import { listedTime } from './time.ts';
import { visible } from './visible.ts';

/** A target of the palette. */
export interface Destination {
  /** Unique among all places. */
  value: string;
  label: string;
  hint: string;
  to: string;
  search: Search;
  /** The action that it takes instead of going somewhere. */
  act?: Act;
}

/** Actions of the palette. */
export type Act = 'stop' | 'dark' | 'light' | 'system';

const SCREENS: readonly (readonly [label: string, to: string, keys: string])[] = [
  ['Inbox', '/reviews', 'g i'],
  ['Overview', '/', 'g o'],
  ['Decisions', '/decisions', 'g d'],
  ['Agents', '/agents', 'g a'],
  ['Budgets', '/budgets', 'g b'],
  ['Allowances', '/allowances', 'g e'],
  ['Shadow report', '/report', 'g r'],
  ['History', '/history', 'g h'],
  ['Coverage', '/coverage', 'g c'],
  ['Notifications', '/notifications', 'g n'],
  ['Webhooks', '/webhooks', 'g w'],
  ['Ledger', '/ledger', 'g l'],
  ['Audit', '/audit', 'g u'],
  ['Keys', '/keys', 'g k'],
  ['Team', '/team', 'g t'],
  ['Review policy', '/review-policy', 'g p'],
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
  const [, kind] = /^(dec|agt|wh|evt|key|usr|bud|alw)_[0-9A-Za-z]{4,}$/.exec(text) ?? [];
  const place = (label: string, to: string, search: Search = {}): Destination[] => [
    { value: `id:${text}`, label: `${label} ${text}`, hint: 'by ID', to, search },
  ];
  if (kind === 'dec') return place('Decision', `/decisions/${text}`);
  if (kind === 'agt') return place('Agent', `/agents/${text}`);
  if (kind === 'alw') return place('Allowance', `/allowances/${text}`);
  if (kind === 'wh') return place('Webhook', `/webhooks/${text}`);
  if (kind !== undefined) return place('In the audit:', '/audit', { target: text });
  return [];
}

const has = (text: string, ...words: string[]) =>
  text
    .toLowerCase()
    .split(/\s+/)
    .every((part) => words.some((word) => word.toLowerCase().includes(part)));

/** In an emergency people type the action, not its screen. `words`: others that people may type for it. */
const ACTIONS: readonly (Pick<Destination, 'label' | 'hint' | 'act'> &
  Partial<Destination> & { words: readonly string[] })[] = [
  { label: 'Stop all agents', hint: 'asks first', act: 'stop', words: ['emergency', 'halt', 'freeze'] },
  { label: 'New agent', hint: 'Agents', to: '/agents', search: { new: 'true' }, words: ['create', 'add'] },
  { label: 'Dark theme', hint: 'this browser', act: 'dark', words: ['mode', 'night'] },
  { label: 'Light theme', hint: 'this browser', act: 'light', words: ['mode', 'day'] },
  { label: 'Theme of the system', hint: 'this browser', act: 'system', words: ['dark', 'light', 'auto'] },
];

const GROUPS = [
  ['merchant', 'Merchants'],
  ['budget', 'Budgets'],
  ['key', 'Keys'],
  ['person', 'People'],
  ['decision', 'Decisions'],
] as const satisfies readonly (readonly [SearchHit['kind'], string])[];

/** Where a hit of the search is shown. */
function placeOfHit({ kind, id }: SearchHit): { to: string; search: Search } {
  if (kind === 'merchant') return { to: '/decisions', search: { merchant: id } };
  if (kind === 'decision') return { to: `/decisions/${id}`, search: {} };
  if (kind === 'agent') return { to: `/agents/${id}`, search: {} };
  if (kind === 'budget') return { to: '/budgets', search: {} };
  return { to: kind === 'key' ? '/keys' : '/team', search: {} };
}

/** Finds the targets that match a typed text, the most specific first. `hits`: what the service found for it. */
export function placesFor(
  typed: string,
  agents: readonly { slug: string; name: string }[],
  hits: readonly SearchHit[] = [],
): { value: string; items: Destination[] }[] {
  const text = typed.trim();
  const screens = SCREENS.filter(([label]) => has(text, label)).map(
    ([label, to, keys]): Destination => ({ value: `screen:${to}`, label, hint: keys, to, search: {} }),
  );
  const actions = ACTIONS.filter(({ label, words }) => has(text, label, ...words)).map(
    ({ words, ...each }): Destination => ({ search: {}, to: '', ...each, value: `action:${each.label}` }),
  );
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
  // Agents are known here already.
  const found = GROUPS.map(([kind, value]) => ({
    value,
    items: hits
      .filter((hit) => hit.kind === kind)
      .map(
        (hit): Destination => ({
          value: `${kind}:${hit.id}`,
          label: visible(hit.title),
          // Requests at one merchant differ in their day.
          hint:
            kind === 'decision'
              ? `${hit.subtitle} · ${listedTime(Date.parse(hit.at), Date.now())}`
              : hit.subtitle,
          ...placeOfHit(hit),
        }),
      ),
  }));
  const searches: Destination[] =
    text === '' || placesOfId(text).length > 0
      ? []
      : [
          {
            value: 'search:decisions',
            label: `Decisions of merchants with “${text}” in the name`,
            hint: 'list',
            to: '/decisions',
            search: { q: text },
          },
        ];
  return [
    { value: 'By ID', items: placesOfId(text) },
    { value: 'Go to', items: screens },
    { value: 'Actions', items: text === '' ? [] : actions },
    { value: 'Agents', items: own },
    ...found,
    { value: 'Search', items: searches },
  ].filter((group) => group.items.length > 0);
}
