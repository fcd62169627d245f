/** Makes the action of a command: its exit code is reported, and what it throws is a sentence. */
export type Run = <Args extends unknown[]>(
  act: (...args: Args) => number | Promise<number>,
) => (...args: Args) => Promise<void>;
