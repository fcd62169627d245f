import { generateText, isStepCount, type ModelMessage, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { z } from 'zod';
import { purserApproval } from '../../src/ai-sdk.ts';
import { guardTool } from '../../src/index.ts';
import type { Conversation, Order } from './driver.ts';

const usage = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
};
const inputSchema = z.object({
  invoice: z.string(),
  merchant: z.string(),
  amount_minor: z.number(),
  account: z.string(),
  description: z.string(),
});

/** The last text that the model reads: a result, refusal or error. */
function lastOf(messages: readonly { role: string; content: unknown }[]): string | null {
  const last = messages.at(-1);
  return last?.role === 'tool' ? JSON.stringify(last.content) : null;
}

function modelOf({ next }: Conversation): MockLanguageModelV4 {
  let calls = 0;
  return new MockLanguageModelV4({
    async doGenerate({ prompt }) {
      const order = await next(lastOf(prompt as ModelMessage[]));
      if (order === null) {
        return {
          content: [{ type: 'text', text: 'done' }],
          finishReason: { unified: 'stop', raw: undefined },
          usage,
          warnings: [],
        };
      }
      return {
        content: [
          {
            type: 'tool-call',
            toolCallId: `call-${++calls}`,
            toolName: 'buy',
            input: JSON.stringify(order),
          },
        ],
        finishReason: { unified: 'tool-calls', raw: undefined },
        usage,
        warnings: [],
      };
    },
  });
}

const stopWhen = isStepCount(50);

/** The AI SDK, asked by `toolApproval`. */
export async function driveAiSdk(conversation: Conversation): Promise<void> {
  const { purser, toSpend, buy, onRefusal } = conversation;
  const tools = { buy: tool({ description: 'Buys', inputSchema, execute: (order: Order) => buy(order) }) };
  await generateText({
    model: modelOf(conversation),
    prompt: 'Buy what is needed.',
    tools,
    stopWhen,
    toolApproval: purserApproval(purser, { buy: toSpend }, { onRefusal }),
  });
}

/** A tool of one's own, guarded, in the AI SDK. */
export async function driveGuardedTool(conversation: Conversation): Promise<void> {
  const { purser, toSpend, buy, onRefusal } = conversation;
  const execute = guardTool(purser, (order: Order) => buy(order), toSpend, { onRefusal });
  await generateText({
    model: modelOf(conversation),
    prompt: 'Buy what is needed.',
    tools: { buy: tool({ description: 'Buys', inputSchema, execute }) },
    stopWhen,
  });
}
