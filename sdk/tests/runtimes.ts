import { execFile } from 'node:child_process';
import { copyFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';

/** Run times that packages are tried under: this one, and in `RUNTIMES` the paths of more with ":" between them. */
export const RUNTIMES = [
  process.execPath,
  ...(process.env.RUNTIMES ?? '').split(':').filter((path) => path !== ''),
];
/** Further arguments that a runtime needs. */
const HOW_TO_RUN: Record<string, string[]> = {
  deno: ['run', '--allow-net=127.0.0.1', 'run-smoke.mjs'],
  workerd: ['test', 'workerd.capnp'],
};

const NAME_OF_RUNTIME = `
function nameOfRuntime() {
  const { Bun, Deno, navigator, process } = globalThis;
  if (Bun !== undefined) return 'bun ' + Bun.version;
  if (Deno !== undefined) return 'deno ' + Deno.version.deno;
  return navigator?.userAgent === 'Cloudflare-Workers' ? 'workerd' : 'node ' + process.versions.node;
}`;

/** Runs a program to its end; rejects with what it wrote when it fails. */
export async function run(
  file: string,
  args: string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  const ended = promisify(execFile)(file, args, { maxBuffer: 10_000_000, ...options });
  const { stdout, stderr } = await ended.catch((error: Error & { stdout: string; stderr: string }) => {
    throw new Error(`${file} ${args.join(' ')}\n${error.stdout}${error.stderr}`, { cause: error });
  });
  return stdout + stderr;
}

/**
 * Runs the `smoke` of a module of ours with `settings`, by one run time, in a folder where the packed packages are
 * installed. Gives what it told, with the run time's own name behind it.
 */
export async function runSmoke(
  runtime: string,
  folder: string,
  smoke: URL,
  settings: unknown,
): Promise<string> {
  await copyFile(fileURLToPath(smoke), join(folder, 'smoke.mjs'));
  const given = JSON.stringify(settings);
  const begin = `import { smoke } from './smoke.mjs';${NAME_OF_RUNTIME}`;
  const tell = (told: string) => `console.log(await smoke(${told}) + ' on ' + nameOfRuntime());`;
  await writeFile(join(folder, 'run-smoke.mjs'), `${begin}\n${tell(given)}`);
  // A worker is one file, and what it runs is a test of it; its settings come with its configuration.
  const test = `export default { test: async (_, env) => { ${tell('env.SETTINGS')} } };`;
  await writeFile(join(folder, 'run-in-worker.mjs'), `${begin}\n${test}`);
  const bundle = await rolldown({ input: join(folder, 'run-in-worker.mjs') });
  await bundle.write({ file: join(folder, 'worker.mjs') });
  await writeFile(
    join(folder, 'workerd.capnp'),
    `using Workerd = import "/workerd/workerd.capnp";
    const config :Workerd.Config = (services = [
      (name = "internet", network = (allow = ["public", "private"])),
      (name = "smoke", worker = (
        modules = [(name = "worker.mjs", esModule = embed "worker.mjs")],
        bindings = [(name = "SETTINGS", json = ${JSON.stringify(given)})],
        compatibilityDate = "2026-01-01")),
    ]);`,
  );
  const args = HOW_TO_RUN[basename(runtime, '.exe')] ?? ['run-smoke.mjs'];
  const told = await run(runtime, args, { cwd: folder });
  if (process.env.RUNTIMES !== undefined) console.log(told);
  return told;
}
