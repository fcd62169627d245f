import type { Purser } from '@purser/sdk';
import { type GuardOptions, isRefusal, preauthorizationText, preauthorize, type ToSpend } from './guard.ts';

interface Guardrail {
  name: string;
  run(data: { toolCall: { arguments: string; callId: string } }): Promise<{
    behavior: { type: 'allow' } | { type: 'rejectContent'; message: string };
    outputInfo: unknown;
  }>;
}

/** For `tool({ …, inputGuardrails: [purserGuardrail(purser, toSpend)] })` of OpenAI Agents: the tool runs only with leave. */
export function purserGuardrail(purser: Purser, toSpend: ToSpend, options: GuardOptions = {}): Guardrail {
  return {
    name: 'purser',
    async run({ toolCall }) {
      const read: ToSpend = (text: string, id) => toSpend(JSON.parse(text), id);
      const answer = await preauthorize(purser, read, toolCall.arguments, toolCall.callId, options);
      return isRefusal(answer)
        ? { behavior: { type: 'rejectContent', message: answer.reason }, outputInfo: answer }
        : { behavior: { type: 'allow' }, outputInfo: preauthorizationText(answer) };
    },
  };
}
