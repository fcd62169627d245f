import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { parse } from 'yaml';
import type { Template, TemplateRequest } from './src/lib/samples/templates.ts';

const EXAMPLES = fileURLToPath(new URL('../examples/authorities/', import.meta.url));
const MODULE = 'virtual:templates';
/** Vite's mark of modules that are no files. */
const RESOLVED = `\0${MODULE}`;
/** Each template shows at most this many of its file's requests. */
const MAX_REQUESTS = 4;

/** Reads a file of `examples/authorities`. Its first line names the template; its steps are the sample requests. */
export function templateOf(file: string, text: string): Template {
  const [, line = ''] = /^# (.*)/.exec(text) ?? [];
  const [name = ''] = line.split(/: |\.$/);
  const { authority, steps } = parse(text) as {
    authority: Template['authority'];
    steps: { decide?: { action: TemplateRequest } }[];
  };
  const requests = steps.flatMap(({ decide }) => (decide === undefined ? [] : [decide.action]));
  return { id: basename(file, '.yaml'), name, authority, requests: requests.slice(0, MAX_REQUESTS) };
}

/** Reads all templates, in the order of their files. */
export function readTemplates(): Template[] {
  return readdirSync(EXAMPLES)
    .sort()
    .map((file) => templateOf(file, readFileSync(join(EXAMPLES, file), 'utf8')));
}

/** Gives the console the files of `examples/authorities` as a module, so that guide and templates have one source. */
export function templates(): Plugin {
  return {
    name: 'templates',
    resolveId: (id) => (id === MODULE ? RESOLVED : undefined),
    load: (id) => (id === RESOLVED ? `export default ${JSON.stringify(readTemplates())}` : undefined),
  };
}
