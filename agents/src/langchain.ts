import type { Purser } from '@purser/sdk';
import { type GuardToolOptions, guardTool, refuseLimitable, type ToSpend } from './guard.ts';

// biome-ignore lint/suspicious/noExplicitAny: requests and messages are handed on as they came.
type Request = any;
type Handler = (request: Request) => unknown;

/**
 * For `createAgent({ …, middleware: [purserMiddleware(purser, { buy: toSpend })] })` of LangChain: asks before the tools named
 * there, and reports what became of them. A tool that throws, or ends with a message of status `error`, has proved nothing
 * unless `isDefiniteFailure` says so.
 */
export function purserMiddleware(
  purser: Purser,
  tools: Record<string, ToSpend>,
  options: GuardToolOptions<unknown> = {},
) {
  return {
    name: 'purser',
    // biome-ignore lint/suspicious/noExplicitAny: LangChain's own type of a message or command.
    async wrapToolCall(request: Request, handler: Handler): Promise<any> {
      const { name, args, id } = request.toolCall;
      const toSpend = Object.hasOwn(tools, name) ? tools[name] : undefined;
      if (toSpend === undefined) return handler(request);
      let message: { status?: string; content?: unknown } | undefined;
      const call = async () => {
        message = (await handler(request)) as typeof message;
        if (message?.status === 'error') throw new Error(String(message.content));
        return message;
      };
      const asked: ToSpend = async (input) => {
        const spend = await toSpend(input, id);
        refuseLimitable(spend);
        return spend;
      };
      const ended = await guardTool(purser, call, asked, options)(args);
      return ended === message ? ended : handler({ ...request, tool: { name, invoke: () => ended } });
    },
  };
}
