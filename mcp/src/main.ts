#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { StartRefused, startStdio } from './stdio.ts';
import type { CapabilityMode } from './tool.ts';
import { VERSION } from './version.ts';

const HELP = `Usage: purser-mcp [--capability=none|meta|result]

Serves the Model Context Protocol on standard input and output, for the agent whose key is in PURSER_API_KEY.

  PURSER_API_KEY    the key of an agent, a reviewer or a reader; never an argument
  PURSER_BASE_URL   the address of Purser; default http://127.0.0.1:8080
  --capability      how the token of a capability reaches the payment tool: none (the default: by the decision
                    alone), meta (in the result's _meta), result (shown to the model; the weak form)
  --version, --help
`;
const CAPABILITIES: readonly string[] = ['none', 'meta', 'result'];

function optionsOf(args: string[]): { capability: CapabilityMode } | { text: string } {
  const { values } = parseArgs({
    args,
    options: {
      capability: { type: 'string', default: 'none' },
      help: { type: 'boolean', short: 'h' },
      version: { type: 'boolean' },
    },
  });
  if (values.help) return { text: HELP };
  if (values.version) return { text: `${VERSION}\n` };
  if (!CAPABILITIES.includes(values.capability))
    throw new TypeError(`--capability must be one of ${CAPABILITIES.join(', ')}`);
  return { capability: values.capability as CapabilityMode };
}

/** One line; an argument is not repeated, since it may be a key. */
function fail(message: string, code: number): void {
  process.stderr.write(`purser-mcp: ${message}\n`);
  process.exitCode = code;
}

try {
  const options = optionsOf(process.argv.slice(2));
  if ('text' in options) process.stdout.write(options.text);
  else await startStdio(options);
} catch (error) {
  if (error instanceof StartRefused) fail(error.message, 1);
  else if (error instanceof TypeError) {
    const known = error.message.startsWith('--capability');
    fail(known ? error.message : 'unknown argument; see purser-mcp --help', 2);
  } else fail(error instanceof Error ? error.message : String(error), 1);
}
