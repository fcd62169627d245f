import type { Purser } from '@purser/sdk';
import { type GuardOptions, isRefusal, preauthorizationText, preauthorize, type ToSpend } from './guard.ts';

type Approval = (
  input: unknown,
  options: { toolCallId: string },
) => Promise<{ type: 'approved' | 'denied'; reason: string }>;

/**
 * For `toolApproval` of the AI SDK: `generateText({ …, toolApproval: purserApproval(purser, { buy: toSpend }) })`. What waits
 * for a review is denied, and not put before the user of the chat: that is the side which asks.
 */
export function purserApproval<Name extends string>(
  purser: Purser,
  tools: Record<Name, ToSpend>,
  options: GuardOptions = {},
): Record<Name, Approval> {
  const approvals = Object.entries<ToSpend>(tools).map(([name, toSpend]): [string, Approval] => [
    name,
    async (input, { toolCallId }) => {
      const answer = await preauthorize(purser, toSpend, input, toolCallId, options);
      return isRefusal(answer)
        ? { type: 'denied', reason: answer.reason }
        : { type: 'approved', reason: preauthorizationText(answer) };
    },
  ]);
  return Object.fromEntries(approvals) as Record<Name, Approval>;
}
