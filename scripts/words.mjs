// Checks the words of changed lines: comments, strings and documents. docs/glossary.md has the words for the interface.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/** Banned words, and what to write instead. */
const BANNED = [
  [/\bwhoever\b/gi, 'name the person: the reviewer, the requester'],
  [/\banew\b/gi, 'again'],
  [/\bso (many|much)\b/gi, 'this many, a number, or a limit'],
  [
    /(?<!\b(?:all|each|both|none|some|most|many|any|one|half) )\bof (which|whom)\b/gi,
    'two sentences, or whose',
  ],
  [/\btold\b/gi, 'shown, reported'],
  [/\bstands\b(?! for)/gi, 'is'],
];
/** A doc comment begins with its subject or a verb. */
const DOC_COMMENT_STARTS = /^(What|Who|Whoever|Of|Whether)\b/;
/** Sentences of the interface specification, which stay as they are. */
const QUOTED = /Whoever requested the spend cannot review it/g;
/** A line with this mark, and the line after it, quote somebody else. */
const IGNORED = 'words-ignore';

const CHECKED = /\.(tsx?|m?js|md|sh|sql|ya?ml)$/;
/** Lists of words, texts of others, and generated files. */
const SKIPPED =
  /(^|\/)(CHANGELOG\.md|cases|curated|generated|dist)(\/|$)|^docs\/glossary\.md$|\/purpose\/data\/|\bgenerated\b|^scripts\/words\.mjs$|\/house\/words\.test\.ts$/;
const CONSOLE = /^console\/src\/(?!.*\.test\.)/;

const git = (...args) =>
  execFileSync('git', ['-c', 'core.quotePath=false', ...args], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();

/** The output of git; null if it fails. */
function tryGit(...args) {
  try {
    return git(...args);
  } catch {
    return null;
  }
}

/**
 * The commit to compare with: `--base`, or the nearest merge base with the main branch, on the main branch the parent of the last
 * commit. `note` says why if there is none.
 */
function findBase() {
  const { base: given } = parseArgs({ options: { base: { type: 'string' } } }).values;
  if (given !== undefined) return { base: given, note: null };
  const branch = tryGit('symbolic-ref', '--short', '-q', 'HEAD');
  const target = process.env.GITHUB_BASE_REF;
  const refs = [
    target && `origin/${target}`,
    'origin/HEAD',
    'origin/main',
    'main',
    'origin/master',
    'master',
  ];
  const head = tryGit('rev-parse', 'HEAD');
  const bases = refs
    .filter((ref) => ref && ref !== branch)
    .map((ref) => tryGit('merge-base', ref, 'HEAD'))
    .filter((base) => base && base !== head)
    .map((base) => ({ base, distance: Number(git('rev-list', '--count', `${base}..HEAD`)) }))
    .sort((a, b) => a.distance - b.distance);
  const base = bases[0]?.base ?? tryGit('rev-parse', '--verify', '-q', 'HEAD^');
  if (base) return { base, note: null };
  const is_shallow = tryGit('rev-parse', '--is-shallow-repository') === 'true';
  const why = is_shallow ? 'the history is shallow' : 'the last commit has no parent';
  return { base: 'HEAD', note: `words: ${why}, so only uncommitted changes are checked` };
}

/** The numbers of added lines, by path, of a diff without context. */
function addedLines(diff) {
  const added = new Map();
  let lines = new Set();
  for (const line of diff.split('\n')) {
    const file = /^\+\+\+ b\/(.*?)\t?$/.exec(line);
    if (file) {
      lines = new Set();
      added.set(file[1], lines);
    }
    const hunk = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line);
    for (let n = 0; hunk && n < Number(hunk[2] ?? 1); n += 1) lines.add(Number(hunk[1]) + n);
  }
  return added;
}

const BEFORE_REGEX = /(^|[=(,:;!&|?{}[+\-*%<>~^]|\b(return|typeof|case|of|in|yield|await))\s*$/;

/** The comments, strings and markup of code as { kind, start, end }. A quote that its line does not close is no string. */
function textsOf(code, is_markup) {
  const found = [];
  const add = (kind, start, end) => found.push({ kind, start, end });
  const templates = [];
  let plain = 0;
  let i = 0;
  const endPlain = (end) => {
    if (!is_markup) return;
    for (const { index, 0: text } of code
      .slice(plain, end)
      .matchAll(/>[^<>{};=()]+|^[ \t]*[^\s<>{};=():?&|,.[\]][^<>{};=()]*$/gm))
      if (text.includes(' ')) add('string', plain + index, plain + index + text.length);
  };
  const template = (start) => {
    let end = start;
    while (end < code.length && code[end] !== '`' && !code.startsWith('${', end))
      end += code[end] === '\\' ? 2 : 1;
    add('string', start, end);
    if (code.startsWith('${', end)) templates.push(0);
    return end + (code[end] === '`' ? 1 : 2);
  };
  while (i < code.length) {
    const char = code[i];
    let end = i + 1;
    const begin = i;
    if (code.startsWith('//', i)) {
      end = code.indexOf('\n', i);
      if (end < 0) end = code.length;
      add('comment', i, end);
    } else if (code.startsWith('/*', i)) {
      end = code.indexOf('*/', i + 2) + 2;
      if (end < 2) end = code.length;
      add(code.startsWith('/**', i) ? 'doc' : 'comment', i, end);
    } else if (char === '/' && BEFORE_REGEX.test(code.slice(Math.max(0, i - 20), i))) {
      const regex = /^\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\//.exec(code.slice(i, i + 2_000));
      if (regex) end = i + regex[0].length;
    } else if (char === "'" || char === '"') {
      const string = new RegExp(`^${char}(?:\\\\.|[^\\\\\\n${char}])*${char}`).exec(code.slice(i, i + 5_000));
      if (string) {
        end = i + string[0].length;
        add('string', i + 1, end - 1);
      }
    } else if (char === '`') end = template(i + 1);
    else if (char === '{' && templates.length > 0) templates[templates.length - 1] += 1;
    else if (char === '}' && templates.length > 0) {
      if (templates[templates.length - 1] === 0) {
        templates.pop();
        end = template(i + 1);
      } else templates[templates.length - 1] -= 1;
    }
    if (found.at(-1)?.start >= begin && found.at(-1)?.end <= end && end > begin + 1) {
      const last = found.pop();
      endPlain(begin);
      found.push(last);
      plain = end;
    }
    i = end;
  }
  endPlain(code.length);
  return found;
}

/** A document without code and quotations, every character in its place. */
const withoutCode = (text) =>
  text.replace(/^```[\s\S]*?^```|`[^`\n]*`|“[^”\n]*”|"[^"\n]*"/gm, (part) => part.replace(/[^\n]/g, ' '));

/** The words that the glossary's first table bans in the interface: those in italics in its last column. */
function interfaceWords() {
  const table = /^## Words for the interface\n[\s\S]*?(?=^## )/m.exec(readGlossary())?.[0] ?? '';
  const words = [];
  for (const [, word, not] of table.matchAll(/^\| (\*\*.*?) \|.*\| (.*?) \|$/gm))
    for (const [, banned] of not.matchAll(/_([^_]+)_/g)) {
      const flags = /^[A-Z]+$/.test(banned) ? 'g' : 'gi';
      words.push([new RegExp(`\\b${banned}\\b`, flags), word.replaceAll('**', '')]);
    }
  return words;
}

function readGlossary() {
  try {
    return readFileSync('docs/glossary.md', 'utf8');
  } catch {
    return '';
  }
}

/** The problems of the changed lines of a file, as lines to print. */
function problemsOf(path, text, changed, interface_words) {
  const problems = [];
  const lines = text.split('\n');
  const starts = [0];
  for (const line of lines) starts.push(starts.at(-1) + line.length + 1);
  const lineAt = (offset) => starts.findLastIndex((start) => start <= offset) + 1;
  const isIgnored = (line) => [line - 1, line - 2].some((n) => lines[n]?.includes(IGNORED));
  const report = (offset, word, instead) => {
    const line = lineAt(offset);
    if (changed.has(line) && !isIgnored(line))
      problems.push([line, `${path}:${line}: "${word}": ${instead}`]);
  };
  const check = (start, end, words) => {
    const part = text.slice(start, end).replace(QUOTED, (quote) => ' '.repeat(quote.length));
    for (const [pattern, instead] of words)
      for (const match of part.matchAll(pattern)) report(start + match.index, match[0], `write: ${instead}`);
  };
  if (!/\.(tsx?|m?js)$/.test(path)) {
    const prose = path.endsWith('.md') ? withoutCode(text) : text;
    for (const [pattern, instead] of BANNED)
      for (const match of prose.matchAll(pattern)) report(match.index, match[0], `write: ${instead}`);
    return inOrder(problems);
  }
  for (const { kind, start, end } of textsOf(text, path.endsWith('x'))) {
    check(start, end, BANNED);
    const content = text.slice(start, end);
    if (kind === 'string' && CONSOLE.test(path) && /\S\s+\S/.test(content))
      check(start, end, interface_words);
    const first = kind === 'doc' && /^\/\*\*[\s*]*/.exec(content);
    if (first && DOC_COMMENT_STARTS.test(content.slice(first[0].length)))
      report(
        start + first[0].length,
        /^\w+/.exec(content.slice(first[0].length))[0],
        'a doc comment begins with its subject or a verb',
      );
  }
  return inOrder(problems);
}

const inOrder = (problems) => problems.sort(([a], [b]) => a - b).map(([, problem]) => problem);

function main() {
  const root = tryGit('rev-parse', '--show-toplevel');
  if (root === null) return console.log('words: this is not a clone of git, so no lines are checked');
  process.chdir(root);
  if (tryGit('rev-parse', 'HEAD') === null)
    return console.log('words: there is no commit, so no lines are checked');
  const { base, note } = findBase();
  if (note) console.log(note);
  const added = addedLines(
    git('diff', '-U0', '-M', '--no-color', '--no-ext-diff', '--diff-filter=ACMR', base, '--'),
  );
  for (const path of git('ls-files', '--others', '--exclude-standard').split('\n'))
    if (path) added.set(path, null);
  const interface_words = interfaceWords();
  const problems = [];
  for (const [path, lines] of added) {
    if (!CHECKED.test(path) || SKIPPED.test(path)) continue;
    const text = readFileSync(join(root, path), 'utf8');
    const changed = lines ?? { has: () => true };
    problems.push(...problemsOf(path, text, changed, interface_words));
  }
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) {
    console.error(`words: ${problems.length} in changed lines. docs/glossary.md has the words to use.`);
    process.exitCode = 1;
  }
}

main();
