import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { APIError, Purser, PurserError } from '@purser/sdk';
import type { CallApi } from './api.ts';
import { type KeyHolder, offersOf } from './holder.ts';
import { makePurserMcp } from './server.ts';
import type { CapabilityMode } from './tool.ts';

const FIRST_LOOK_MS = 5_000;
/** A call that the service was asked to hold back may take that much longer. */
const HELD_BACK_MS = 30_000;

/** A start that is refused; the message is one line, and says what to do. */
export class StartRefused extends Error {}

export interface StdioOptions {
  /** Default `PURSER_API_KEY`. */
  apiKey?: string | undefined;
  /** Default `PURSER_BASE_URL`, else http://127.0.0.1:8080. */
  baseURL?: string | undefined;
  capability?: CapabilityMode | undefined;
}

/** Calls routes over the network, with the time limits and retries of the client. */
export function callOverNetwork(purser: Purser): CallApi {
  return async ({ method, path, body, idempotency_key, signal }) => {
    const patience = path.includes('wait_seconds=') ? { timeout: HELD_BACK_MS } : {};
    const options = { signal, idempotencyKey: idempotency_key, ...patience };
    try {
      const asked = purser.request<unknown>(method, path, { body }, options);
      const { data, response } = await asked.withResponse();
      return { status: response.status, body: data };
    } catch (error) {
      if (!(error instanceof APIError)) throw error;
      return { status: error.status, body: { error: { code: error.code, message: error.message } } };
    }
  };
}

/**
 * Serves MCP on standard input and output with the key that the environment holds, until the client closes them.
 * Resolves once it serves; rejects with `StartRefused` when the key is not good for that or the service is away.
 */
export async function startStdio(options: StdioOptions = {}): Promise<{ close(): Promise<void> }> {
  const purser = clientOf(options);
  const holder = await holderOf(purser);
  const offers = offersOf(holder);
  if ('refusal' in offers) throw new StartRefused(offers.refusal);
  const call = callOverNetwork(purser);
  // A failure is told to the model as a refusal; standard error is for whoever runs this.
  const onFailure = (error: unknown) =>
    process.stderr.write(`purser-mcp: ${error instanceof Error ? error.message : 'something failed'}\n`);
  return serveStdio(() => makePurserMcp({ call, holder, capability: options.capability, onFailure }));
}

function clientOf({ apiKey = process.env.PURSER_API_KEY, baseURL }: StdioOptions): Purser {
  if (apiKey === undefined || apiKey === '')
    throw new StartRefused("PURSER_API_KEY is not set: set it to an agent's key.");
  // Clients hand a placeholder on as it is where they have no value for it.
  if (/^\$\{.*\}$/.test(apiKey))
    throw new StartRefused(
      'PURSER_API_KEY still has the placeholder from the configuration: set it where the client starts.',
    );
  try {
    return new Purser({ apiKey, baseURL });
  } catch (error) {
    throw new StartRefused(error instanceof Error ? error.message : String(error));
  }
}

async function holderOf(purser: Purser): Promise<KeyHolder> {
  try {
    const { scopes, agent_id } = await purser.apiKeys.current({ timeout: FIRST_LOOK_MS, maxRetries: 0 });
    const is_list = Array.isArray(scopes) && scopes.every((each) => typeof each === 'string');
    if (is_list && (agent_id === null || typeof agent_id === 'string')) return { scopes, agent_id };
    throw new StartRefused("The service did not return the key's scopes. Is PURSER_BASE_URL right?");
  } catch (error) {
    if (error instanceof APIError && error.status === 401)
      throw new StartRefused(
        'PURSER_API_KEY is not valid: the key is unknown, revoked or expired. Create another one.',
      );
    if (error instanceof PurserError)
      throw new StartRefused(`Purser cannot be reached: ${error.message}. Is PURSER_BASE_URL right?`);
    throw error;
  }
}
