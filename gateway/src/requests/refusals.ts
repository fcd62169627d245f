import type { Fields } from '../fields.ts';
import type { Shape } from './routes.ts';
import { Refused } from './routes.ts';

const OPEN_TOOLS = /^(?:function|custom|local_shell|apply_patch|(?:bash|text_editor|computer|memory)_.+)$/;
/** Tools whose description the provider adds to the prompt. */
const DESCRIBED_TOOLS = /^(?:local_shell|apply_patch|(?:bash|text_editor|computer|memory)_.+)$/;

/** Members of a call that let the provider do work which no limit of the call bounds, with what they ask for. */
const UNBOUNDED: Readonly<Record<Shape, Readonly<Record<string, string>>>> = {
  chat: {
    web_search_options: 'web search',
    audio: 'audio output',
    moderation: 'moderation',
    // OpenAI-compatible servers take these.
    best_of: 'several candidates',
    models: 'other models',
    plugins: 'plugins',
  },
  responses: {
    background_options: 'work in the background',
    multi_agent: 'further agents',
    image: 'image generation',
    moderation: 'moderation',
  },
  embeddings: {},
  messages: {
    mcp_servers: 'MCP servers',
    container: 'a container',
    compaction: 'compaction',
    fallbacks: 'other models',
    fallback_credit_token: 'credit of another call',
    billing_policy: 'its own billing',
    thread: 'a stored thread',
  },
};

const isSet = (value: unknown): boolean =>
  value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);

function refuse(param: string, what: string): never {
  throw new Refused(
    'unbounded_request',
    `The cost of this call has no bound: it asks for ${what}, which this gateway does not pass on. Leave out ${param}.`,
    param,
  );
}

function checkTools(body: Fields): void {
  const { tools } = body;
  if (!isSet(tools)) return;
  if (!Array.isArray(tools)) throw new Refused('invalid_request', 'tools must be a list.', 'tools');
  for (const [i, tool] of tools.entries()) {
    const type: unknown = tool?.type ?? 'custom';
    if (typeof type === 'string' && OPEN_TOOLS.test(type)) continue;
    refuse(`tools[${i}]`, `a tool that the provider runs (${JSON.stringify(type).slice(0, 60)})`);
  }
}

/** The number of tools of a call whose description the provider writes. */
export function describedTools(body: Fields): number {
  const { tools } = body;
  if (!Array.isArray(tools)) return 0;
  return tools.filter((tool) => typeof tool?.type === 'string' && DESCRIBED_TOOLS.test(tool.type)).length;
}

/** Throws `Refused` for a call that asks for work whose cost the gateway cannot bound. */
export function refuseUnbounded(shape: Shape, body: Fields): void {
  for (const [name, what] of Object.entries(UNBOUNDED[shape])) if (isSet(body[name])) refuse(name, what);
  checkTools(body);
  if (shape === 'chat') {
    const { modalities } = body;
    if (isSet(modalities) && !(Array.isArray(modalities) && modalities.every((each) => each === 'text')))
      refuse('modalities', 'an output other than text');
  }
  if (shape === 'responses') {
    if (isSet(body.background) && body.background !== false) refuse('background', 'work in the background');
    if (isSet(body.context_management)) refuse('context_management', 'compaction');
    const mode = (body.reasoning as Fields | null | undefined)?.mode;
    if (isSet(mode) && mode !== 'standard') refuse('reasoning.mode', 'several runs for one answer');
  }
  if (shape === 'messages') {
    const edits = (body.context_management as Fields | null | undefined)?.edits;
    if (isSet(edits)) {
      // Edits that clear parts of the input lower the cost; the effect of others is unknown.
      const are_known = Array.isArray(edits) && edits.every((edit) => /^clear_/.test(String(edit?.type)));
      if (!are_known) refuse('context_management', 'compaction');
    }
  }
}

/** The tier that a call asks for; null is the provider's standard one. Without a price it is refused where prices are known. */
export function tierOf(shape: Shape, body: Fields): { tier: string | null; param: string } {
  const named = (name: string, usual: readonly string[]) => {
    const value = body[name];
    return !isSet(value) || usual.includes(value as string) ? null : String(value);
  };
  if (shape !== 'messages')
    return { tier: named('service_tier', ['auto', 'default']), param: 'service_tier' };
  const tier = named('service_tier', ['auto', 'standard_only']);
  const speed = named('speed', ['standard']);
  const geo = named('inference_geo', ['global']);
  const parts = [tier, speed, geo].filter((each) => each !== null);
  const param = tier !== null ? 'service_tier' : speed !== null ? 'speed' : 'inference_geo';
  return { tier: parts.length === 0 ? null : parts.join('+'), param };
}
