import { readFile } from 'node:fs/promises';
import { CommandError } from './failure.ts';

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
