import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'vitest/node';

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Paths from the root of the files that git lists or would add, by their patterns. Those that were just deleted are among them. */
export function listFiles(...patterns: string[]): string[] {
  const listed = execFileSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard', ...patterns],
    { cwd: ROOT, encoding: 'utf8' },
  );
  return listed.split('\0').filter((path) => path !== '');
}

/** Source files of all workspaces and of the root, by path from the root, with their text. Generated files are left out. */
export function readSources(): Map<string, string> {
  const sources = new Map<string, string>();
  for (const path of listFiles('*.ts', '*.tsx', '*.mjs')) {
    if (/\bgenerated\b/.test(path)) continue;
    try {
      sources.set(path, readFileSync(join(ROOT, path), 'utf8'));
    } catch (error) {
      // Git still lists a file that was deleted and not committed yet.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return sources;
}

/** Returns whether a path is that of a test, or of what tests share. */
export function isTest(path: string): boolean {
  return /\.test\.tsx?$|(^|\/)(tests|e2e)\//.test(path);
}

/** The workspace of a path: `server`, `packages/rules`; `.` for files of the root. */
export function workspaceOf(path: string): string {
  return /^(?:packages\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? '.';
}

/** Files of the sources that a file imports by relative paths. */
export function importsOf(path: string, sources: ReadonlyMap<string, string>): string[] {
  const text = sources.get(path) as string;
  return [...text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)]
    .map(([, target]) => join(dirname(path), target as string))
    .filter((target) => sources.has(target));
}

/** A function with a body. Closures inside it count as its lines too. */
export interface SourceFunction {
  /** Its own name, or that of what it is assigned to; `anonymous` without one. */
  name: string;
  lines: number;
  /** It does nothing but return one list. */
  is_table: boolean;
}

// biome-ignore lint/suspicious/noExplicitAny: the tree has some hundred kinds of node.
type Node = any;

const isFunction = ({ type }: Node) =>
  /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(type);
const nameOf = (parent: Node) => parent?.id?.name ?? parent?.key?.name ?? parent?.left?.property?.name;

function returnsOnlyAList({ body }: Node): boolean {
  const returned = body.type === 'BlockStatement' && body.body.length === 1 ? body.body[0].argument : body;
  return returned?.type === 'ArrayExpression';
}

/** The functions of a file, by its syntax tree. Throws where the text does not parse. */
export function functionsOf(path: string, text: string): SourceFunction[] {
  const found: SourceFunction[] = [];
  const visit = (node: Node, parent: Node): void => {
    if (isFunction(node) && node.body) {
      const name = node.id?.name ?? nameOf(parent) ?? 'anonymous';
      found.push({
        name,
        lines: text.slice(node.start, node.end).split('\n').length,
        is_table: returnsOnlyAList(node),
      });
    }
    for (const child of Object.values(node)) {
      for (const each of Array.isArray(child) ? child : [child]) {
        if (typeof each?.type === 'string') visit(each, node);
      }
    }
  };
  visit(parseAst(text, { lang: path.endsWith('.tsx') ? 'tsx' : path.endsWith('.ts') ? 'ts' : 'js' }), null);
  return found;
}
