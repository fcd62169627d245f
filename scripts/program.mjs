/**
 * Runs a program of the project with what the process has. A signal asks it to end, so that it can stop what it
 * has started; its number becomes the exit code.
 */
export async function runProgram(main) {
  const asked = new AbortController();
  const end = () => asked.abort(new Error('It was asked to end.'));
  process.on('SIGINT', end);
  process.on('SIGTERM', end);
  process.on('SIGHUP', end);
  // A reader that went away, as in `| head`, is no reason to leave anything behind.
  process.stdout.on('error', end);
  process.exitCode = await main({
    args: process.argv.slice(2),
    env: process.env,
    signal: asked.signal,
    stdout: process.stdout,
    stderr: process.stderr,
  });
}
