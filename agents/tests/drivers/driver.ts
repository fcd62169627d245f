import type { Purser } from '@purser/sdk';
import type { Refusal, ToSpend } from '../../src/index.ts';

/** The input of the tool in these tests. */
export interface Order {
  invoice: string;
  merchant: string;
  amount_minor: number;
  account: string;
  description: string;
}

/** One scripted conversation in a real framework. */
export interface Conversation {
  purser: Purser;
  toSpend: ToSpend<Order>;
  onRefusal?: (refusal: Refusal) => void;
  /** The tool itself; it gives what the model reads. */
  buy(order: Order): Promise<string>;
  /** The scripted model: told what the last call of the tool came to, says what to buy next; null ends it. */
  next(last: string | null): Promise<Order | null>;
}

/** Runs a conversation to its end. */
export type Driver = (conversation: Conversation) => Promise<void>;
