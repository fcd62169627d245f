import type { Purser } from '@purser/sdk';
import { type GuardOptions, isRefusal, preauthorizationText, preauthorize, type ToSpend } from './guard.ts';

/** The fields of the Claude Agent SDK's `PreToolUseHookInput` that the hook reads. */
interface Input {
  hook_event_name: string;
  tool_name?: string;
  tool_input?: unknown;
}

interface Output {
  hookSpecificOutput?: {
    hookEventName: 'PreToolUse';
    permissionDecision?: 'deny';
    permissionDecisionReason?: string;
    additionalContext?: string;
  };
}

interface Matcher {
  hooks: ((input: Input, id: string | undefined, options: { signal: AbortSignal }) => Promise<Output>)[];
  timeout: number;
  onFailure: 'block';
}

const say = (told: Omit<NonNullable<Output['hookSpecificOutput']>, 'hookEventName'>): Output => ({
  hookSpecificOutput: { hookEventName: 'PreToolUse', ...told },
});

/** Seconds in which the client gives up by itself, however often it tries again. */
const ASKING_SECONDS = 120;

/**
 * For `hooks: { PreToolUse: [purserHook(purser, { mcp__shop__buy: toSpend })] }` of the Claude Agent SDK. The tools named
 * there run only with leave; your permission rules hold as well. Other tools are none of its business.
 */
export function purserHook(
  purser: Purser,
  tools: Record<string, ToSpend>,
  options: GuardOptions = {},
): Matcher {
  const timeout = Math.ceil((options.waitForReview ?? 0) / 1000) + ASKING_SECONDS;
  return {
    // Without this a hook that fails lets the tool run.
    onFailure: 'block',
    timeout,
    hooks: [
      async ({ tool_name = '', tool_input }, id, { signal }) => {
        const toSpend = Object.hasOwn(tools, tool_name) ? tools[tool_name] : undefined;
        if (toSpend === undefined) return {};
        const answer = await preauthorize(purser, toSpend, tool_input, id, { ...options, signal });
        return isRefusal(answer)
          ? say({ permissionDecision: 'deny', permissionDecisionReason: answer.reason })
          : say({ additionalContext: preauthorizationText(answer) });
      },
    ],
  };
}
