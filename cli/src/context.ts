import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Purser } from '@purser/sdk';
import { CommandError } from './failure.ts';

/** Bits of a file's mode that let others than its owner in. */
const OF_OTHERS = 0o077;

/** The environment of a command. */
export interface Context {
  /** The client of the key at hand; reads the key when it is first asked for. */
  client(): Promise<Purser>;
  /** Writes lines to standard output. */
  say(...lines: string[]): void;
  /** Writes data to standard output as one line of JSON. */
  json(data: unknown): void;
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
  env: NodeJS.ProcessEnv;
  /** Aborted by Ctrl-C; commands that follow end then. */
  signal: AbortSignal;
}

/** Where the key is kept, when it is not in the environment. */
function keyFile(env: NodeJS.ProcessEnv): string {
  const { PURSER_API_KEY_FILE: named, XDG_CONFIG_HOME: config, HOME: home } = env;
  return named ?? join(config ?? join(home ?? homedir(), '.config'), 'purser', 'key');
}

/**
 * The key: of `PURSER_API_KEY`, or of the key file, which nobody but its owner may read. It is never an argument, since
 * other users of a machine can see those. Throws `CommandError`.
 */
export async function readKey(env: NodeJS.ProcessEnv): Promise<string> {
  if (env.PURSER_API_KEY !== undefined && env.PURSER_API_KEY !== '') return env.PURSER_API_KEY;
  const file = keyFile(env);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT')
      throw new CommandError(`No key: set PURSER_API_KEY, or put it into ${file} (chmod 600).`);
    throw new CommandError(`${file} cannot be read (${error.code}).`);
  });
  const { mode } = await stat(file);
  if (process.platform !== 'win32' && (mode & OF_OTHERS) !== 0)
    throw new CommandError(
      `Other users can read ${file}: run chmod 600 ${file}, and replace the key if it may have leaked.`,
    );
  const key = text.trim();
  if (key === '') throw new CommandError(`${file} is empty: put a key into it.`);
  return key;
}

/** The text of a file. Throws `CommandError` that names it. */
export async function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`${file} cannot be read (${error.code}).`);
  });
}

/** The content of a file of JSON, for the service to judge. Throws `CommandError` that names the file. */
export async function readJson<T>(file: string): Promise<T> {
  const text = await readText(file);
  try {
    return JSON.parse(text) as T;
  } catch (error) {
    throw new CommandError(`${file} is no JSON: ${(error as Error).message}`);
  }
}

/** Makes the context of a process. */
export function makeContext(given: Pick<Context, 'stdin' | 'stdout' | 'stderr' | 'env' | 'signal'>): Context {
  let client: Promise<Purser> | undefined;
  return {
    ...given,
    client() {
      client ??= readKey(given.env).then(
        (apiKey) => new Purser({ apiKey, baseURL: given.env.PURSER_BASE_URL || undefined }),
      );
      return client;
    },
    say: (...lines) => void given.stdout.write(lines.map((line) => `${line}\n`).join('')),
    json: (data) => void given.stdout.write(`${JSON.stringify(data)}\n`),
  };
}
