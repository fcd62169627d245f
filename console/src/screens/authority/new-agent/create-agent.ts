import { type Agent, type Authority, InvalidRequestError, type NewApiKey } from '@purser/sdk';
import { codeOfError, problemOf, purser } from '../../../api/client.ts';
import { fieldOf, type Problems } from '../../../lib/authority/draft.ts';

/** An agent that was created on this page. */
export interface Created {
  agent: Agent;
  authority: Authority | null;
  /** Null if its creation failed. */
  key: NewApiKey | null;
  key_error: unknown;
}

/** Creates the agent with its policy, and its first key. The agent exists even if its key cannot be created. */
export async function create(
  { name, slug, mode }: { name: string; slug: string; mode: string },
  authority: Authority | null,
): Promise<Created> {
  const agent = await purser.agents.create({
    slug,
    ...(name.trim() === '' ? {} : { name: name.trim() }),
    ...(mode === '' ? {} : { mode: mode as 'SHADOW' | 'ENFORCE' }),
    ...(authority === null ? {} : { authority }),
  });
  const made = { agent, authority };
  try {
    const key = await purser.apiKeys.create({ name: `${agent.slug} 1`.slice(-64), agent_id: agent.id });
    return { ...made, key, key_error: null };
  } catch (key_error) {
    return { ...made, key: null, key_error };
  }
}

/** The field that a refusal is about, if the form has it. */
export function refusalOf(error: unknown): { refused: Problems } | null {
  if (codeOfError(error) === 'agent_exists')
    return { refused: { slug: 'An agent with this slug already exists' } };
  if (!(error instanceof InvalidRequestError)) return null;
  const { field = '' } = error;
  if (field === 'slug' || field === 'name') return { refused: { [field]: problemOf(error) } };
  const found = fieldOf(field.replace(/^authority\./, ''));
  if (found === undefined) return null;
  const line = found.line === null ? '' : `line ${found.line} `;
  return { refused: { [found.field]: `${line}${problemOf(error)}` } };
}
