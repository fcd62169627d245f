import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { PRICES } from './gateway.ts';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

export interface GatewayProcess {
  url: string;
  child: ChildProcess;
  lines: string[];
  /** Ends it as a machine's operator or a fault would; resolves with its exit code once it is gone. */
  kill(signal: NodeJS.Signals): Promise<number | null>;
}

/** The environment of a gateway with both providers at one address. */
export function environmentOf(
  purser_url: string,
  provider_url: string,
  directory: string,
  env: Record<string, string> = {},
) {
  const prices_file = join(directory, 'prices.json');
  writeFileSync(prices_file, JSON.stringify(PRICES));
  return {
    ...{ PATH: process.env.PATH ?? '', PORT: '0', PURSER_URL: purser_url, PURSER_ADAPTER_KEY: 'sk_adapter' },
    ...{ PRICES_FILE: prices_file, GATEWAY_DATA_DIR: directory },
    ...{ OPENAI_API_KEY: 'sk-provider-openai', OPENAI_UPSTREAM: provider_url },
    ...{ ANTHROPIC_API_KEY: 'sk-provider-anthropic', ANTHROPIC_UPSTREAM: provider_url },
    ...{ WAIT_SECONDS: '2', DEFAULT_OUTPUT_TOKENS: '1000', MIN_OUTPUT_TOKENS: '10', LEASE_IDLE_SECONDS: '1' },
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
