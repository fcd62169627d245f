import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, type BaseMessage, createAgent, tool } from 'langchain';
import { z } from 'zod';
import { purserMiddleware } from '../../src/langchain.ts';
import type { Conversation, Order } from './driver.ts';

class ScriptedModel extends BaseChatModel {
  readonly #next: Conversation['next'];
  #calls = 0;

  constructor(next: Conversation['next']) {
    super({});
    this.#next = next;
  }
  _llmType() {
    return 'scripted';
  }
  override bindTools() {
    return this;
  }
  async _generate(messages: BaseMessage[]) {
    const last = messages.at(-1);
    const order = await this.#next(last?.type === 'tool' ? String(last.content) : null);
    const tool_calls =
      order === null
        ? []
        : [{ name: 'buy', args: { ...order }, id: `call-${++this.#calls}`, type: 'tool_call' as const }];
    return { generations: [{ text: '', message: new AIMessage({ content: '', tool_calls }) }] };
  }
}

/** LangChain, asked by a middleware. */
export async function driveLangChain({ purser, toSpend, buy, onRefusal, next }: Conversation): Promise<void> {
  const schema = z.object({
    invoice: z.string(),
    merchant: z.string(),
    amount_minor: z.number(),
    account: z.string(),
    description: z.string(),
  });
  const agent = createAgent({
    model: new ScriptedModel(next),
    tools: [tool((order: Order) => buy(order), { name: 'buy', description: 'Buys', schema })],
    middleware: [purserMiddleware(purser, { buy: toSpend }, { onRefusal })],
  });
  await agent.invoke(
    { messages: [{ role: 'user', content: 'Buy what is needed.' }] },
    { recursionLimit: 100 },
  );
}
