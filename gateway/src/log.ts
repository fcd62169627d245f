/** One line of JSON for each event. Pass ids, names, numbers and sentences of our own, never a key or the text of a call. */
export type Log = (level: 'info' | 'warn' | 'error', msg: string, more?: Record<string, unknown>) => void;

/** Writes lines of JSON with `level`, `time` and `msg`. A write that fails changes nothing else. */
export function makeLog(write: (line: string) => void = (line) => void process.stdout.write(line)): Log {
  return (level, msg, more = {}) => {
    try {
      write(`${JSON.stringify({ level, time: new Date().toISOString(), msg, ...more })}\n`);
    } catch {
      // A call and its money must not depend on the log.
    }
  };
}
