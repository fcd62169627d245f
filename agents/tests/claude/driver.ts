import { createSdkMcpServer, type Options, query, tool } from '@anthropic-ai/claude-agent-sdk';
import { z } from 'zod';
import { purserHook } from '../../src/claude.ts';
import type { Conversation } from '../drivers/driver.ts';
import { scriptedCli } from './scripted-cli.ts';
import { serveScriptedModel } from './scripted-model.ts';

const shape = {
  invoice: z.string(),
  merchant: z.string(),
  amount_minor: z.number(),
  account: z.string(),
  description: z.string(),
};

/**
 * The Claude Agent SDK, asked by a PreToolUse hook. Its hooks and tools are its own; Claude Code beneath it is a script that
 * speaks its protocol, or with CLAUDE_CODE_EXECUTABLE the real one before a scripted model.
 */
export async function drive(conversation: Conversation): Promise<void> {
  const { purser, toSpend, buy, onRefusal } = conversation;
  const real = process.env.CLAUDE_CODE_EXECUTABLE;
  const model = real === undefined ? undefined : await serveScriptedModel(conversation.next);
  const beneath: Options =
    model === undefined
      ? { pathToClaudeCodeExecutable: 'scripted', spawnClaudeCodeProcess: scriptedCli(conversation.next) }
      : { pathToClaudeCodeExecutable: real as string, env: model.env, cwd: model.home };
  const shop = createSdkMcpServer({
    name: 'shop',
    tools: [
      tool('buy', 'Buys', shape, async (order) => {
        const [text, isError] = await buy(order).then(
          (bought) => [bought, false] as const,
          (error) => [String(error), true] as const,
        );
        return { content: [{ type: 'text', text }], isError };
      }),
    ],
  });
  try {
    const conversed = query({
      prompt: 'Buy what is needed.',
      options: {
        ...beneath,
        mcpServers: { shop },
        settingSources: [],
        // The weakest rules of one's own: what holds then is the hook.
        permissionMode: 'bypassPermissions',
        allowDangerouslySkipPermissions: true,
        hooks: { PreToolUse: [purserHook(purser, { mcp__shop__buy: toSpend }, { onRefusal })] },
      },
    });
    for await (const message of conversed) {
      if (message.type !== 'result') continue;
      if (message.is_error) throw new Error(JSON.stringify(message));
      break;
    }
  } finally {
    await model?.close();
  }
}
