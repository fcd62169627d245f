import {
  Agent,
  getGlobalTraceProvider,
  type Model,
  type ModelRequest,
  Runner,
  tool,
  Usage,
} from '@openai/agents-core';
import { z } from 'zod';
import { purserGuardrail } from '../../src/openai.ts';
import type { Conversation, Order } from './driver.ts';

// What sends its traces comes again every five seconds, also in the test files that follow in this process, where a clock
// that is not the real one would never come to its end.
await getGlobalTraceProvider().shutdown();

class ScriptedModel implements Model {
  readonly #next: Conversation['next'];
  #calls = 0;

  constructor(next: Conversation['next']) {
    this.#next = next;
  }
  async getResponse({ input }: ModelRequest) {
    const last = typeof input === 'string' ? undefined : input.at(-1);
    const order = await this.#next(
      last?.type === 'function_call_result' ? JSON.stringify(last.output) : null,
    );
    const usage = new Usage();
    if (order === null) {
      const content = [{ type: 'output_text' as const, text: 'done' }];
      return {
        usage,
        output: [
          { type: 'message' as const, role: 'assistant' as const, status: 'completed' as const, content },
        ],
      };
    }
    const callId = `call-${++this.#calls}`;
    return {
      usage,
      output: [{ type: 'function_call' as const, callId, name: 'buy', arguments: JSON.stringify(order) }],
    };
  }
  // biome-ignore lint/correctness/useYield: it has nothing to give.
  async *getStreamedResponse(): AsyncGenerator<never> {
    throw new Error('This model does not stream');
  }
}

/** OpenAI Agents, asked by an input guardrail of the tool. */
export async function driveOpenAI({ purser, toSpend, buy, onRefusal, next }: Conversation): Promise<void> {
  const parameters = z.object({
    invoice: z.string(),
    merchant: z.string(),
    amount_minor: z.number(),
    account: z.string(),
    description: z.string(),
  });
  const agent = new Agent({
    name: 'buyer',
    model: new ScriptedModel(next),
    tools: [
      tool({
        name: 'buy',
        description: 'Buys',
        parameters,
        execute: (order: Order) => buy(order),
        inputGuardrails: [purserGuardrail(purser, toSpend, { onRefusal })],
      }),
    ],
  });
  await new Runner({ tracingDisabled: true }).run(agent, 'Buy what is needed.', { maxTurns: 50 });
}
