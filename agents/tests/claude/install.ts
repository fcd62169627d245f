import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Driver } from '../drivers/driver.ts';

const HERE = dirname(fileURLToPath(import.meta.url));
const run = promisify(execFile);

/**
 * Installs the Claude Agent SDK where it is missing: here and not with everything else, because with everything else come a
 * program of 380 MB and two more libraries, of which these tests need none.
 */
async function installClaudeSdk(): Promise<void> {
  const wanted = JSON.parse(await readFile(join(HERE, 'package-lock.json'), 'utf8'));
  const name = 'node_modules/@anthropic-ai/claude-agent-sdk';
  const found = await readFile(join(HERE, name, 'package.json'), 'utf8').catch(() => '{}');
  if (JSON.parse(found).version === wanted.packages[name].version) return;
  const options = ['--omit=optional', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
  await run('npm', ['ci', ...options, '--loglevel=error'], { cwd: HERE });
}

/** Compiles what is here, with the types of the SDK; rejects with what is wrong. */
export async function checkTypes(): Promise<void> {
  await installClaudeSdk();
  const compiler = createRequire(import.meta.url).resolve('typescript/package.json');
  await run(process.execPath, [join(dirname(compiler), 'bin', 'tsc'), '-p', HERE]).catch((error) => {
    throw new Error(error.stdout, { cause: error });
  });
}

/** The Claude Agent SDK, asked by a PreToolUse hook. */
export const driveClaude: Driver = async (conversation) => {
  await installClaudeSdk();
  const found = new Set(Object.keys(process.env));
  // A name that the compiler does not follow: it runs before the SDK is there.
  const file = './driver.ts';
  const { drive } = (await import(/* @vite-ignore */ file)) as { drive: Driver };
  try {
    await drive(conversation);
  } finally {
    // The SDK leaves names of its own behind.
    for (const name of Object.keys(process.env)) if (!found.has(name)) delete process.env[name];
  }
};
