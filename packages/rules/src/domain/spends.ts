export type { Action, SpendRequest, TraceStep } from '@purser/contract/decisions';
