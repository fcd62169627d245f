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
    expect(labels('')).toHaveLength(14);
  });
  test.each([
    ['dec_01M81RDG1Z4EM2G6EQ2F72K3NH', '/decisions/dec_01M81RDG1Z4EM2G6EQ2F72K3NH'],
    ['agt_01M81RDG1Z4EM2G6EQ2F72K3NH', '/agents/agt_01M81RDG1Z4EM2G6EQ2F72K3NH'],
    ['wh_01M81RDG1Z4EM2G6EQ2F72K3NH', '/webhooks/wh_01M81RDG1Z4EM2G6EQ2F72K3NH'],
  ])('takes an id for what it is: %s', (id, to) => {
    expect(placesFor(` ${id} `, AGENTS)[0]?.items[0]?.to).toBe(to);
  });
  test('finds agents by slug or name, and merchants by whatever was typed', () => {
    expect(labels('infra')).toEqual([
      'Infrastructure bot',
      'Policy of Infrastructure bot',
      'Decisions with “infra” in the merchant name',
    ]);
    expect(labels('travel desk')).toContain('Travel desk');
  });
  test('leads to the emergency stop', () => {
    expect(labels('stop')).toContain('Stop all agents');
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
