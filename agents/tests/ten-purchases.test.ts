import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningService, startTestService } from '../../server/tests/support/running-service.ts';
import { driveClaude } from './claude/install.ts';
import { driveAiSdk, driveGuardedTool } from './drivers/ai-sdk.ts';
import type { Driver } from './drivers/driver.ts';
import { driveLangChain } from './drivers/langchain.ts';
import { driveMcp } from './drivers/mcp.ts';
import { driveOpenAI } from './drivers/openai.ts';
import { openPurchases, PURCHASES } from './ten-purchases.ts';

let s: RunningService;
beforeAll(async () => {
  s = await startTestService();
});
afterAll(() => s.stop());

const DRIVERS: [string, string, Driver][] = [
  ['the Claude Agent SDK', 'claude', driveClaude],
  ['the AI SDK', 'ai-sdk', driveAiSdk],
  ['LangChain', 'langchain', driveLangChain],
  ['OpenAI Agents', 'openai', driveOpenAI],
  ['a guarded tool in the AI SDK', 'guarded-tool', driveGuardedTool],
];

test('of ten purchases four are wrong', () => {
  expect([PURCHASES.length, PURCHASES.filter(({ wrong }) => wrong !== undefined).length]).toEqual([10, 4]);
});

test.each(DRIVERS)(
  'an agent of %s pays the six that are right, once, and not the four that are wrong',
  async (_, slug, drive) => {
    const purchases = await openPurchases(s, slug);
    await drive(purchases);
    await purchases.check();
  },
);

test('an agent at /mcp that asks before it pays does the same, and what it reports agrees with the rail', async () => {
  const purchases = await openPurchases(s, 'mcp');
  await driveMcp(s, purchases.agent_key, purchases);
  await purchases.check();
});
