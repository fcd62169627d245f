import type { Capabilities, Decisions } from './resources.ts';

/** The calls of a client that asking, waiting and paying use. `Purser` is one. */
export interface Client {
  readonly decisions: Decisions;
  readonly capabilities: Capabilities;
}
