#!/usr/bin/env node
// Starts Purser, or runs one of the operator's commands.
import { endWithParent } from './end-with-parent.mjs';

endWithParent();
if (process.argv.length === 2) process.argv.push('serve');
await import('../server/dist/main.js');
