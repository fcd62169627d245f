// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are source code.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const SCRIPT = fileURLToPath(new URL('../../../scripts/words.mjs', import.meta.url));
const GLOSSARY = `# Glossary

## Words for the interface

| Word | Meaning | Not |
|---|---|---|
| **expires** | a deadline passes | _runs out_, lapses |
| **Shadow** | a mode | _SHADOW_ |

## Rest
`;

let dir: string;
let clone: string;
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.com', ...args], {
    cwd: clone,
    stdio: 'pipe',
  });

function write(path: string, text: string): void {
  mkdirSync(dirname(join(clone, path)), { recursive: true });
  writeFileSync(join(clone, path), text);
}

function commit(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) write(path, text);
  git('add', '-A');
  git('commit', '-q', '-m', 'A change');
}

/** Runs the check. Returns its exit code and lines. */
function check(...args: string[]) {
  const { GITHUB_BASE_REF: _, ...env } = process.env;
  const ended = spawnSync(process.execPath, [SCRIPT, ...args], { cwd: clone, env, encoding: 'utf8' });
  return { code: ended.status, lines: `${ended.stdout}${ended.stderr}`.split('\n').filter(Boolean) };
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'words-'));
  clone = join(dir, 'clone');
  mkdirSync(clone);
  git('init', '-q', '-b', 'main');
  commit({ 'docs/glossary.md': GLOSSARY, 'a.ts': '/** What was there. */\nexport const a = 1;\n' });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('a changed line is refused', () => {
  test.each([
    [
      'a doc comment that begins with a relative clause',
      'b.ts',
      '/** Whether it is. */\nconst b = 1;',
      '"Whether"',
    ],
    ['a doc comment of several lines', 'b.ts', '/**\n * What it asks.\n */\nconst b = 1;', '"What"'],
    ['a word in a comment', 'b.ts', 'const b = 1; // made anew', '"anew"'],
    ['a word in a string', 'b.ts', "const b = 'nobody is told';", '"told"'],
    ['a word in a template', 'b.ts', 'const b = `${a} so many ${c}`;', '"so many"'],
    ['a word behind an expression of a template', 'b.ts', 'const b = `${f({ a })} is told`;', '"told"'],
    ['a word in markup', 'console/src/B.tsx', 'const b = <p>It stands here</p>;', '"stands"'],
    ['a word of a document', 'b.md', 'The list, of which two are new.', '"of which"'],
    ['a word of SQL', 'b.sql', '-- whoever made it', '"whoever"'],
    ['a banned word of the interface', 'console/src/b.ts', "const b = 'It runs out soon';", '"runs out"'],
  ])('%s', (_name, path, text, word) => {
    git('switch', '-q', '-c', 'change');
    commit({ [path]: `${text}\n` });
    const { code, lines } = check();
    expect([code, lines.length]).toEqual([1, 2]);
    expect(lines[0]).toMatch(new RegExp(`^${path}:\\d+: `));
    expect(lines[0]).toContain(word);
  });
});

describe('nothing is refused for', () => {
  test.each([
    ['identifiers', 'b.ts', 'const told = { stands: 1 };\nconst told_period = told.stands;'],
    ['a regular expression', 'b.ts', "const b = /it's told|anew/.test(a) ? 'yes' : 'no';"],
    [
      'code and quotations in a document',
      'b.md',
      'The field `told`, and "nobody was told".\n\n```\nanew\n```',
    ],
    [
      'a quotation that is marked',
      'b.ts',
      "// words-ignore: a customer's words\nconst b = 'nobody told me';",
    ],
    ['a sentence of the specification', 'b.ts', "const b = 'Whoever requested the spend cannot review it.';"],
    [
      'ordinary English',
      'b.ts',
      '/** All of which match. SLA stands for an agreement. What follows is code. */',
    ],
    ['codes in the console', 'console/src/b.ts', "const b = mode === 'SHADOW' ? 'Shadow mode' : '';"],
    ['words of the interface outside the console', 'b.ts', "const b = 'It runs out soon';"],
    ['cases and word lists', 'server/cases/b.yaml', 'text: whoever told you'],
  ])('%s', (_name, path, text) => {
    git('switch', '-q', '-c', 'change');
    commit({ [path]: `${text}\n` });
    expect(check()).toEqual({ code: 0, lines: [] });
  });
});

describe('the lines that are checked', () => {
  const BAD = { 'b.md': 'It is told.\n' };

  test('are those of all commits since the branch left the main branch', () => {
    git('switch', '-q', '-c', 'change');
    commit(BAD);
    commit({ 'c.md': 'Fine.\n' });
    expect(check().code).toBe(1);
  });
  test('are those of the last commit on the main branch', () => {
    commit(BAD);
    expect(check().code).toBe(1);
    commit({ 'c.md': 'Fine.\n' });
    expect(check().code).toBe(0);
  });
  test('include uncommitted and new files', () => {
    commit({ 'c.md': 'Fine.\n' });
    write('b.md', BAD['b.md']);
    expect(check().lines[0]).toContain('b.md:1');
    git('add', '-A');
    expect(check().lines[0]).toContain('b.md:1');
  });
  test('leave out a file that was only renamed, and unchanged lines of a changed one', () => {
    commit({ 'b.md': `It is told.\n${'Long.\n'.repeat(20)}` });
    git('switch', '-q', '-c', 'change');
    git('mv', 'b.md', 'c.md');
    commit({ 'a.ts': '/** What was there. */\nexport const a = 2;\n' });
    expect(check()).toEqual({ code: 0, lines: [] });
  });
  test('are those since the given commit', () => {
    commit(BAD);
    commit({ 'c.md': 'Fine.\n' });
    expect(check('--base', 'HEAD~2').code).toBe(1);
  });
  test.each([
    [
      'a shallow clone',
      () => git('clone', '-q', '--depth', '1', `file://${clone}`, join(dir, 'shallow')),
      'shallow',
    ],
    ['a first commit', () => {}, 'no parent'],
  ])('are the uncommitted ones of %s, which it says in one line', (name, prepare, why) => {
    if (name === 'a shallow clone') commit(BAD);
    prepare();
    if (name === 'a shallow clone') clone = join(dir, 'shallow');
    const { code, lines } = check();
    expect([code, lines.length]).toEqual([0, 1]);
    expect(lines[0]).toContain(why);
    write('d.md', BAD['b.md']);
    expect(check().code).toBe(1);
  });
});
