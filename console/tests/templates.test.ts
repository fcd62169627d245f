import { describe, expect, test } from 'vitest';
import { isKind, samplesFor } from '../src/lib/samples/templates.ts';
import { readTemplates, templateOf } from '../templates.ts';

const templates = readTemplates();

test('each file of examples/authorities is a template with a name of its own and requests to try', () => {
  expect(templates).toHaveLength(16);
  expect(new Set(templates.map(({ name }) => name)).size).toBe(templates.length);
  for (const { name, authority, requests } of templates) {
    expect(name).toMatch(/^[A-Z].{3,99}[^.:]$/);
    expect(requests.length).toBeGreaterThan(1);
    for (const { currency } of requests.slice(0, 1)) expect(currency).toBe(authority.currency);
  }
});

test('the templates for a kind of agent begin with a likely request and say what each is for', () => {
  const kinds = templates.filter(isKind);
  expect(kinds.map(({ name }) => name)).toEqual([
    'Cloud and hosting',
    'Research',
    'Business travel',
    'Office supplies',
    'Online advertising',
    'Model usage',
  ]);
  for (const { requests } of kinds) {
    expect(requests).toHaveLength(4);
    expect(requests.every(({ description = '' }) => description !== '')).toBe(true);
  }
});

test('a file without a name on its first line makes no template with a name', () => {
  expect(templateOf('99-x.yaml', 'authority: {}\nsteps: []\n')).toMatchObject({ name: '', requests: [] });
});

describe('samples', () => {
  const [research] = templates.filter(({ id }) => id === '12-research');
  const example = (assessment: string, merchant: string) =>
    ({
      assessment,
      because: '',
      spend: { action: { type: 'purchase', merchant, amount_minor: 1, currency: 'EUR' } },
    }) as never;

  test('are those of the template with the same objective, in the currency of the policy', () => {
    const samples = samplesFor({ purpose: research?.authority.purpose as never, currency: 'USD' }, templates);
    expect(samples.map(({ merchant }) => merchant)).toEqual(['JSTOR', 'Statista', 'Gartner', 'Eventbrite']);
    expect(samples.every(({ currency }) => currency === 'USD')).toBe(true);
  });

  test('are those of the reading for any other objective, likely ones first, and never of another agent', () => {
    const examples = [example('PURPOSE_UNCLEAR', 'Odd Shop'), example('PURPOSE_ALIGNED', 'Paper Mill')];
    const samples = samplesFor({ purpose: { objective: 'Buy paper' }, currency: 'EUR' }, templates, examples);
    expect(samples.map(({ merchant }) => merchant)).toEqual(['Paper Mill', 'Odd Shop']);
    expect(samplesFor({ purpose: { objective: 'Buy paper' }, currency: 'EUR' }, templates)).toEqual([]);
  });
});
