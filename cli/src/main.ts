#!/usr/bin/env node
import { makeContext } from './context.ts';
import { runProgram } from './program.ts';

const ended = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    ended.abort();
    // What is being waited for is given up; a second signal ends the process as usual.
  });
}
// A reader that went away, as in `| head`, is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

const { stdin, stdout, stderr, env } = process;
process.exitCode = await runProgram(
  makeContext({ stdin, stdout, stderr, env, signal: ended.signal }),
  process.argv.slice(2),
);
