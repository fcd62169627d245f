import type {
  CallToolResult,
  InputRequiredResult,
  McpServer,
  ServerContext,
  StandardSchemaWithJSON,
  ToolAnnotations,
} from '@modelcontextprotocol/server';
import { type CallApi, Refused } from './api.ts';
import { bounded } from './text.ts';

/** How a capability reaches the payment tool: by the decision alone, in the result's `_meta`, or in the result. */
export type CapabilityMode = 'none' | 'meta' | 'result';

/** The environment of a tool. */
export interface ToolContext {
  call: CallApi;
  /** The agent of an agent's key. */
  agent_id: string | null;
  capability: CapabilityMode;
  /** True if the client can put a form before the person at it. */
  canAskPerson: (ctx: ServerContext) => boolean;
  /** Told of what failed unforeseen; a model is not shown it. */
  onFailure: (error: unknown) => void;
}

/** A tool's answer: data, or a notice that nothing happened. */
export type ToolAnswer = CallToolResult | InputRequiredResult;

/** A tool: what models are told of it, and what it does. None of its words come from data. */
export interface Tool<Input> {
  name: string;
  title: string;
  description: string;
  input: StandardSchemaWithJSON<Input, Input>;
  output: StandardSchemaWithJSON;
  /** Hints for clients; nothing here relies on them. */
  annotations: Pick<ToolAnnotations, 'readOnlyHint' | 'destructiveHint' | 'idempotentHint'>;
  run: (input: Input, ctx: ServerContext, context: ToolContext) => Promise<ToolAnswer>;
}

/** A result as structured data, and as the same in text for clients that know no structured data. */
export function answer(data: Record<string, unknown>, _meta?: Record<string, unknown>): CallToolResult {
  return {
    content: [{ type: 'text', text: JSON.stringify(data) }],
    structuredContent: data,
    ...(_meta === undefined ? {} : { _meta }),
  };
}

/** Tells a model that nothing was allowed, and what to do. */
export function notDone(message: string): CallToolResult {
  return { content: [{ type: 'text', text: `Not allowed: ${message}` }], isError: true };
}

/** Advice for a model, by error code. Other errors are for the operator. */
const ADVICE: Readonly<Record<string, string>> = {
  idempotency_conflict:
    'This name belongs to a purchase with other details. Repeat those details if it is the same purchase; otherwise use another name.',
  agent_not_active: 'Stop buying and tell your principal.',
  rate_limited: 'Wait a minute before the next call.',
  unavailable: 'Do not buy. Call again later with the same arguments.',
  auth_unavailable: 'Do not buy. Call again later with the same arguments.',
  internal_error: 'Do not buy. Call again later with the same arguments.',
};

/** Every failure as a refusal, so that none can be taken for a permission. Nothing of what is unforeseen is shown. */
export function refusalOf(error: unknown, onFailure: ToolContext['onFailure']): CallToolResult {
  if (error instanceof Refused) {
    const advice = ADVICE[error.code] ?? '';
    return notDone(`${bounded(error.message)} (${bounded(error.code, 64)}) ${advice}`.trim());
  }
  onFailure(error);
  return notDone(
    'Purser could not be reached. Do not buy. Call again later with the same arguments, and tell your principal if the problem persists.',
  );
}

/** Offers a tool on a server. */
export function register<Input>(server: McpServer, tool: Tool<Input>, context: ToolContext): void {
  const { name, title, description, input, output, annotations, run } = tool;
  server.registerTool(
    name,
    {
      title,
      description,
      inputSchema: input,
      outputSchema: output,
      annotations: { title, openWorldHint: false, ...annotations },
    },
    async (given: Input, ctx: ServerContext) => {
      try {
        return await run(given, ctx, context);
      } catch (error) {
        return refusalOf(error, context.onFailure);
      }
    },
  );
}

/** Those of the fields that were given. */
export function given(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
