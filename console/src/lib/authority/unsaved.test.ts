import { expect, test } from 'vitest';
import { EMPTY_DRAFT } from './draft.ts';
import { readUnsaved } from './unsaved.ts';

test('stored changes are restored unchanged', () => {
  const kept = {
    base: null,
    draft: { ...EMPTY_DRAFT, objective: 'Half a thought' },
    json: null,
    note: 'Why',
  };
  expect(readUnsaved(JSON.stringify(kept))).toEqual(kept);
});

test('missing and unreadable stored changes give null', () => {
  const { objective: _, ...older } = EMPTY_DRAFT;
  const kept = { base: null, draft: older, json: null, note: '' };
  for (const text of [null, '', 'null', '{', '[]', '{}', JSON.stringify(kept)]) {
    expect(readUnsaved(text), String(text)).toBeNull();
  }
});
