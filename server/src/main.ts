#!/usr/bin/env node
import { openFilesProblem, readOpenFiles } from './service/operator/open-files.ts';

// Before the rest is loaded: a process with too few open files cannot even read its own program.
const problem = openFilesProblem(readOpenFiles());
if (problem?.is_fatal === true) {
  process.stderr.write(`purser: ${problem.message}\n`);
  process.exit(1);
}
await import('./command-line.ts');
