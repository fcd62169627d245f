import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { environmentOf } from './gateway.ts';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

export interface GatewayProcess {
  url: string;
  child: ChildProcess;
  lines: string[];
  /** Ends it as a machine's operator or a fault would; resolves with its exit code once it is gone. */
  kill(signal: NodeJS.Signals): Promise<number | null>;
}

/** The environment of a gateway process with both providers at one address. */
export function processEnvironmentOf(
  purser_url: string,
  provider_url: string,
  directory: string,
  env: Record<string, string> = {},
): Record<string, string> {
  return {
    ...environmentOf(purser_url, provider_url, directory),
    PATH: process.env.PATH ?? '',
    WAIT_SECONDS: '2',
    LEASE_IDLE_SECONDS: '1',
    ...env,
  };
}

/** A gateway as a process of its own, once it listens. Rejects with what it wrote if it ends before. */
export async function spawnGateway(env: Record<string, string>): Promise<GatewayProcess> {
  const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  let errors = '';
  child.stderr.on('data', (text) => {
    errors += text;
  });
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      lines.push(line);
      const { msg, url: found } = JSON.parse(line);
      if (msg === 'listening') resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`exit ${code}: ${errors.trim()}`)));
  });
  return {
    url,
    child,
    lines,
    async kill(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      const gone = once(child, 'exit');
      child.kill(signal);
      await gone;
      return child.exitCode;
    },
  };
}
