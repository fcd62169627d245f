/** What the reading of texts comes to, in units that are the same on every machine. */
export interface Work {
  /** Characters of texts that patterns went through and of those that decomposition made, in UTF-16 code units. */
  characters: number;
  /** Look-ups in tables, of words, phrases and names. */
  look_ups: number;
}

type Method = (this: unknown, ...args: unknown[]) => unknown;

/**
 * Counts what `run` does, which must not wait for anything: the methods of the language that read texts and tables count
 * while it runs. Every method that takes a pattern goes through `exec`, from match to match; what goes on inside of one
 * match is not seen.
 */
export function workOf(run: () => void): Work {
  const work: Work = { characters: 0, look_ups: 0 };
  const restore: (() => void)[] = [];
  const watch = (prototype: object, name: string, around: (method: Method) => Method) => {
    const own = Object.getOwnPropertyDescriptor(prototype, name) as PropertyDescriptor;
    restore.push(() => Object.defineProperty(prototype, name, own));
    Object.defineProperty(prototype, name, { ...own, value: around(own.value as Method) });
  };
  const looks = (method: Method): Method =>
    function (...args) {
      work.look_ups += 1;
      return method.apply(this, args);
    };
  watch(Map.prototype, 'get', looks);
  watch(Set.prototype, 'has', looks);
  watch(RegExp.prototype, 'exec', (exec) => {
    return function (...args) {
      if ((this as RegExp).lastIndex === 0) work.characters += String(args[0]).length;
      return exec.apply(this, args);
    };
  });
  watch(String.prototype, 'normalize', (normalize) => {
    return function (...args) {
      const made = normalize.apply(this, args) as string;
      work.characters += made.length;
      return made;
    };
  });
  try {
    run();
  } finally {
    for (const each of restore) each();
  }
  return work;
}
