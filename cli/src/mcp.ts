import type { Context } from './context.ts';
import { CommandError, EXIT } from './failure.ts';
import { serviceAddress } from './service-address.ts';

export const CLIENTS = ['claude-code', 'cursor', 'vscode'] as const;
export type McpClient = (typeof CLIENTS)[number];

/** A placeholder that the client fills in. */
const inBraces = (name: string) => `\${${name}}`;

interface Form {
  title: string;
  /** Where the client looks for its configuration. */
  file: string;
  /** How it writes the value of a key that is not in the file. */
  key: string;
  list: string;
  /** Marks a service at an address; Cursor recognizes it by its `url`. */
  remote: { type?: 'http' };
  more: object;
}
const FORMS: Record<McpClient, Form> = {
  'claude-code': {
    title: 'Claude Code',
    file: '.mcp.json',
    key: inBraces('PURSER_API_KEY'),
    list: 'mcpServers',
    remote: { type: 'http' },
    more: {},
  },
  cursor: {
    title: 'Cursor',
    file: '.cursor/mcp.json',
    key: inBraces('env:PURSER_API_KEY'),
    list: 'mcpServers',
    remote: {},
    more: {},
  },
  vscode: {
    title: 'VS Code',
    file: '.vscode/mcp.json',
    key: inBraces('input:purser-api-key'),
    list: 'servers',
    remote: { type: 'http' },
    more: {
      inputs: [
        {
          type: 'promptString',
          id: 'purser-api-key',
          description: "The agent's Purser key",
          password: true,
        },
      ],
    },
  },
};

/**
 * The configuration of one client: of a service that is reached at an address, or of the program, which npx gets from that
 * service. The key is in none.
 */
function configurationOf(client: McpClient, base_url: string, program: string | null): object {
  const { key, list, remote, more } = FORMS[client];
  const server =
    program !== null
      ? {
          type: 'stdio',
          command: 'npx',
          args: ['-y', program],
          env: { PURSER_API_KEY: key, PURSER_BASE_URL: base_url },
        }
      : { ...remote, url: new URL('/mcp', base_url).href, headers: { Authorization: `Bearer ${key}` } };
  return { ...more, [list]: { purser: server } };
}

/** The address of the program's package at a service. */
async function programAt(base_url: string): Promise<string> {
  const { VERSION } = await import('@purser/mcp');
  return new URL(`/packages/purser-mcp-${VERSION}.tgz`, base_url).href;
}

/** Prints what to put into which file. */
export async function printConfiguration(
  context: Context,
  client: McpClient | undefined,
  options: { stdio?: boolean; json?: boolean },
): Promise<number> {
  const base_url = serviceAddress(context.env);
  const program = options.stdio ? await programAt(base_url) : null;
  const wanted = client === undefined ? CLIENTS : [client];
  if (options.json) {
    context.json(Object.fromEntries(wanted.map((each) => [each, configurationOf(each, base_url, program)])));
    return EXIT.ok;
  }
  for (const each of wanted) {
    const { title, file } = FORMS[each];
    context.say(`# ${title}: ${file}`, JSON.stringify(configurationOf(each, base_url, program), null, 2), '');
  }
  context.say(
    "# The agent's key comes from PURSER_API_KEY, or the client prompts for it. Do not put it in these files.",
  );
  return EXIT.ok;
}

/** Serves on standard input and output; at a terminal, where no client is, it tells how to set clients up instead. */
export async function serve(context: Context): Promise<number> {
  if (context.stdin.isTTY === true) return printConfiguration(context, undefined, {});
  const { StartRefused, startStdio } = await import('@purser/mcp/stdio');
  const { readKey } = await import('./context.ts');
  const apiKey = await readKey(context.env);
  try {
    await startStdio({ apiKey, baseURL: context.env.PURSER_BASE_URL || undefined });
  } catch (error) {
    throw error instanceof StartRefused ? new CommandError(error.message) : error;
  }
  return EXIT.ok;
}
