export { type GuardOptions, type GuardToolOptions, guardTool, type Refusal, type ToSpend } from './guard.ts';
