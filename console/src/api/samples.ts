import templates from 'virtual:templates';
import type { Authority } from '@purser/sdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useDebounced } from '../lib/hooks/use-debounced.ts';
import { samplesFor, type TemplateRequest } from '../lib/samples/templates.ts';
import { purser } from './client.ts';

/** For an agent without a policy, which fits no purpose yet. */
const ANY: TemplateRequest = {
  type: 'purchase',
  merchant: 'Example Store',
  amount_minor: 4900,
  currency: 'EUR',
  description: 'First request',
};

const isOfTemplate = ({ purpose }: Authority) =>
  templates.some((each) => each.authority.purpose.objective === purpose.objective);

async function samplesOf(authority: Authority): Promise<TemplateRequest[]> {
  if (isOfTemplate(authority)) return samplesFor(authority, templates);
  return samplesFor(authority, templates, (await purser.authority.reading(authority)).examples);
}

/** Sample requests that fit a draft. Empty while there is none. */
export function useDraftSamples(authority: Authority | null): readonly TemplateRequest[] {
  // Limits change no sample.
  const text =
    authority === null
      ? null
      : JSON.stringify({ purpose: authority.purpose, currency: authority.currency } satisfies Authority);
  const asked = useDebounced(text);
  const { data } = useQuery({
    queryKey: ['samples', asked],
    queryFn: async () => samplesOf(JSON.parse(asked as string) as Authority),
    enabled: asked !== null,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return text === null ? [] : (data ?? []);
}

/** A sample request that fits an agent's policy. Undefined while it loads, or without an agent. */
export function useAgentSample(slug: string | undefined): TemplateRequest | undefined {
  const { data } = useQuery({
    queryKey: ['authority', slug, 'sample'],
    queryFn: async () => {
      const agent = await purser.agents.retrieve(slug as string);
      if (agent.authority_version === null) return ANY;
      const { authority } = await purser.agents.authority.retrieve(slug as string);
      return (await samplesOf(authority))[0] ?? { ...ANY, currency: authority.currency };
    },
    enabled: slug !== undefined,
    staleTime: 60_000,
  });
  return data;
}
