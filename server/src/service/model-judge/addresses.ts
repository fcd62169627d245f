import { anthropicMessages } from './anthropic-messages.ts';
import { chatCompletions } from './chat-completions.ts';
import { openAiResponses } from './openai-responses.ts';
import type { Protocol, ProtocolName } from './protocols.ts';

const ALL: readonly Protocol[] = [chatCompletions, openAiResponses, anthropicMessages];

const pathOf = (address: URL) => address.pathname.replace(/\/+$/, '');

/**
 * The protocol of an endpoint: the one named, else the one whose path the URL ends in, else that of the provider whose
 * host it is, else chat completions.
 */
export function protocolFor(url: string, named: ProtocolName | 'auto'): Protocol {
  const address = new URL(url);
  const host = { 'api.anthropic.com': 'anthropic', 'api.openai.com': 'responses' }[address.hostname];
  return (
    ALL.find(({ name }) => name === named) ??
    ALL.find(({ path }) => pathOf(address).endsWith(path)) ??
    ALL.find(({ name }) => name === host) ??
    chatCompletions
  );
}

/**
 * Where the protocol's questions go: the URL itself if it ends in the protocol's path, else that path appended to it,
 * after `/v1` if the URL has no path. The query stays, the fragment is dropped.
 */
export function addressFor(url: string, { path }: Pick<Protocol, 'path'>): URL {
  const address = new URL(url);
  address.hash = '';
  const given = pathOf(address);
  if (!given.endsWith(path)) address.pathname = `${given === '' ? '/v1' : given}${path}`;
  return address;
}
