import type { TemplateRequest } from './templates.ts';

/** The values that make a snippet complete. */
export interface Snippet {
  /** The address of the service. */
  url: string;
  /** The agent's key, or `$PURSER_API_KEY`. */
  key: string;
  /** For a key that is not the agent's own. */
  agent?: string | undefined;
  request: TemplateRequest;
  /** The addresses of the service's packages by name; without a package's address it comes from its registry. */
  packages?: ReadonlyMap<string, string> | undefined;
}

/** A name for the purchase that a repeated run repeats, so that it is not bought twice. */
export function purchaseName({ merchant, amount_minor }: TemplateRequest): string {
  const name = merchant
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
  return `${name === '' ? 'purchase' : name}-${amount_minor}`;
}

/** In the form of Python and JavaScript alike: JSON with spaces, one field a line. */
const actionOf = (request: TemplateRequest, indent: string) =>
  `{\n${Object.entries(request)
    .map(([name, value]) => `${indent}  "${name}": ${JSON.stringify(value)},`)
    .join('\n')}\n${indent}}`;

/** Quotes a text for a POSIX shell. */
const shell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
/** A key may also be a variable of the shell. */
const shellKey = (key: string) => (key.startsWith('$') ? `"x-api-key: ${key}"` : shell(`x-api-key: ${key}`));

/** A request as a command for a POSIX shell. */
export function curl({ url, key, agent, request }: Snippet): string {
  const body = { ...(agent === undefined ? {} : { agent }), action: request };
  return [
    `curl -s ${url}/v1/decisions -H ${shellKey(key)} \\`,
    `  -H 'content-type: application/json' -H 'idempotency-key: ${purchaseName(request)}' \\`,
    `  -d ${shell(JSON.stringify(body))}`,
  ].join('\n');
}

function typescript({ url, key, agent, request }: Snippet): string {
  const action = actionOf(request, '  ').replace(/^( +)"(\w+)":/gm, '$1$2:');
  return `import { Purser } from '@purser/sdk';

const purser = new Purser({ apiKey: '${key}', baseURL: '${url}' });
const { decision } = await purser.authorize({
  idempotencyKey: '${purchaseName(request)}',${agent === undefined ? '' : `\n  agent: '${agent}',`}
  action: ${action},
});
console.log(decision.decision, decision.explanation);`;
}

function python({ url, key, agent, request }: Snippet): string {
  return `from purser import Purser

purser = Purser("${key}", base_url="${url}")
answer = purser.authorize({
    "idempotency_key": "${purchaseName(request)}",${agent === undefined ? '' : `\n    "agent": "${agent}",`}
    "action": ${actionOf(request, '    ')},
})
print(answer.decision["decision"], answer.decision["explanation"])`;
}

function mcp({ url, key }: Snippet): string {
  const server = { type: 'http', url: `${url}/mcp`, headers: { 'x-api-key': key } };
  return JSON.stringify({ mcpServers: { purser: server } }, null, 2);
}

function claudeHook({ url, key, agent, request }: Snippet): string {
  const { type, merchant: shop, amount_minor, currency, description = '' } = request;
  const order = { order_id: purchaseName(request), shop, amount_minor, description };
  const prompt = `Buy this with the tool: ${JSON.stringify(order)}`;
  return `import { createSdkMcpServer, query, tool } from '@anthropic-ai/claude-agent-sdk';
import { purserHook } from '@purser/agents/claude';
import { Purser } from '@purser/sdk';
import { z } from 'zod';

const purser = new Purser({ apiKey: '${key}', baseURL: '${url}' });
// A tool that spends. Your own takes its place.
const order = { order_id: z.string(), shop: z.string(), amount_minor: z.number(), description: z.string() };
const buy = tool('buy', 'Buys from a shop', order, async ({ shop }) => {
  console.log('Paid', shop);
  return { content: [{ type: 'text', text: 'Paid.' }] };
});
// One entry for each tool that spends: its name, and its input as a payment request.
const hook = purserHook(purser, {
  mcp__shop__buy: ({ order_id, shop, amount_minor, description }) => ({
    idempotencyKey: order_id,${agent === undefined ? '' : `\n    agent: '${agent}',`}
    action: { type: ${JSON.stringify(type)}, merchant: shop, amount_minor, currency: '${currency}', description },
  }),
});
const options = {
  mcpServers: { shop: createSdkMcpServer({ name: 'shop', tools: [buy] }) },
  allowedTools: ['mcp__shop__buy'],
  hooks: { PreToolUse: [hook] },
};
const prompt = ${JSON.stringify(prompt)};
for await (const message of query({ prompt, options }))
  if (message.type === 'result') console.log(message.result);`;
}

/** The command that installs packages, those of the service from the service. */
const install =
  (command: string, ...names: readonly string[]) =>
  ({ packages }: Snippet) =>
    [command, ...names.map((name) => packages?.get(name) ?? name)].join(' ');

/** The ways to send a first request, each with its code and what to do with it. */
export const SNIPPETS: readonly {
  name: string;
  code: (of: Snippet) => string;
  /** The command that gets its packages. */
  install?: (of: Snippet) => string;
  /** Requirements of the code, and where it goes. */
  first: (of: Snippet) => string;
  /** True if the code sends the request that was chosen. */
  sends: boolean;
}[] = [
  { name: 'curl', code: curl, first: () => 'Paste it into a terminal.', sends: true },
  {
    name: 'TypeScript',
    code: typescript,
    install: install('npm install', '@purser/sdk'),
    first: () =>
      'Needs Node 20.19 or later. Install the package, save the code as first.mjs and run it with node.',
    sends: true,
  },
  {
    name: 'Python',
    code: python,
    install: install('pip install', 'purser-client'),
    first: () =>
      'Needs Python 3.10 or later. Install the package, save the code as first.py and run it with python.',
    sends: true,
  },
  {
    name: 'MCP',
    code: mcp,
    first: () =>
      'Save it as .mcp.json in the folder where Claude Code runs; other clients take the same address and header. It needs no package. Then ask the agent to buy something.',
    sends: false,
  },
  {
    name: 'Claude hook',
    code: claudeHook,
    install: install('npm install', '@purser/agents', '@purser/sdk', '@anthropic-ai/claude-agent-sdk', 'zod'),
    first: () =>
      'Needs Node 20.19 or later, and a login of Claude Code or ANTHROPIC_API_KEY. Install the packages, save the code as agent.mjs and run it with node. The hook asks before the tool runs.',
    sends: true,
  },
];
