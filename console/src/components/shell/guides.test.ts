import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { guideOf } from './guides.ts';

test('the guide of a screen is there, and a screen without one has no link', () => {
  for (const title of [
    'Inbox',
    'Decisions',
    'Decision',
    'Agent',
    'Policy',
    'Shadow report',
    'History',
    'What would have happened',
    'Coverage',
    'Ledger',
    'Audit',
    'Team',
    'Settings',
  ]) {
    const slug = guideOf(title)?.replace('/docs/guides/', '');
    expect(existsSync(new URL(`../../../../docs/guides/${slug}.md`, import.meta.url)), title).toBe(true);
  }
  expect(guideOf('Hetzner Online')).toBeNull();
});
