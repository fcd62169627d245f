import { describe, expect, test } from 'vitest';
import { placesFor, screenOfKey } from './palette.ts';

const AGENTS = [
  { slug: 'infra-bot', name: 'Infrastructure bot' },
  { slug: 'travel', name: 'Travel desk' },
];
const labels = (text: string) =>
  placesFor(text, AGENTS).flatMap((group) => group.items.map((each) => each.label));

describe('the palette', () => {
  test('shows every screen before anything is typed', () => {
    expect(labels('')).toContain('Inbox');
    expect(labels('')).toHaveLength(18);
  });
  test.each([
    ['dec_01M81RDG1Z4EM2G6EQ2F72K3NH', '/decisions/dec_01M81RDG1Z4EM2G6EQ2F72K3NH'],
    ['agt_01M81RDG1Z4EM2G6EQ2F72K3NH', '/agents/agt_01M81RDG1Z4EM2G6EQ2F72K3NH'],
    ['alw_01M81RDG1Z4EM2G6EQ2F72K3NH', '/allowances/alw_01M81RDG1Z4EM2G6EQ2F72K3NH'],
    ['wh_01M81RDG1Z4EM2G6EQ2F72K3NH', '/webhooks/wh_01M81RDG1Z4EM2G6EQ2F72K3NH'],
  ])('takes an id for what it is: %s', (id, to) => {
    expect(placesFor(` ${id} `, AGENTS)[0]?.items[0]?.to).toBe(to);
  });
  test('finds agents by slug or name, and merchants by whatever was typed', () => {
    expect(labels('infra')).toEqual([
      'Infrastructure bot',
      'Policy of Infrastructure bot',
      'Decisions of merchants with “infra” in the name',
    ]);
    expect(labels('travel desk')).toContain('Travel desk');
  });
  test.each([
    ['stop', 'Stop all agents'],
    ['halt', 'Stop all agents'],
    ['new ag', 'New agent'],
    ['dark', 'Dark theme'],
  ])('has an action for %s', (text, label) => {
    expect(labels(text)).toContain(label);
  });
  test('leads to what the service found, by its kind', () => {
    const at = '2026-11-21T08:00:00.000Z';
    const hits = [
      {
        kind: 'merchant' as const,
        id: 'Hetz & Co',
        title: 'Hetz & Co',
        subtitle: 'Last requested by bot',
        at,
      },
      { kind: 'decision' as const, id: 'dec_1', title: 'Hetz\u202e', subtitle: 'EUR 1.00, bot, ALLOW', at },
    ];
    const groups = placesFor('hetz', AGENTS, hits);
    const of = (name: string) => groups.find(({ value }) => value === name)?.items[0];
    expect(of('Merchants')).toMatchObject({ to: '/decisions', search: { merchant: 'Hetz & Co' } });
    expect(of('Decisions')).toMatchObject({
      to: '/decisions/dec_1',
      hint: expect.stringMatching(/^EUR 1\.00, bot, ALLOW · \S/),
    });
    expect(of('Decisions')?.label).not.toContain('\u202e');
  });
  test('has a value of its own for every place', () => {
    const values = placesFor('a', AGENTS).flatMap((group) => group.items.map((each) => each.value));
    expect(new Set(values).size).toBe(values.length);
  });
});

test('a second key after g names a screen, or nothing', () => {
  expect([screenOfKey('i'), screenOfKey('d'), screenOfKey('z')]).toEqual([
    '/reviews',
    '/decisions',
    undefined,
  ]);
});
