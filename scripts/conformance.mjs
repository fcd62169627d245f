// npm run conformance: the official conformance suite of the Model Context Protocol against `POST /mcp` of this clone. The
// suite needs Node 22, which npm brings; where neither can be had it says loudly that nothing was tried.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fail, prepare, ROOT } from './prepare.mjs';

const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12';
const ADMIN_KEY = 'sk_conformance-of-the-protocol';
const INSTALL_MAX_MS = 5 * 60_000;

/**
 * Scenarios for a server with tools and resources, without prompts, subscriptions, sampling or fixtures. By scenario:
 * the checks that cannot be made here, because they need tools that the suite brings along, prompts, or notices of
 * changes of a list that never changes.
 */
const APPLIES = {
  '2025-11-25': {
    'server-initialize': [],
    ping: [],
    'tools-list': [],
    'resources-list': [],
    'dns-rebinding-protection': [],
  },
  '2026-07-28': {
    'tools-list': [],
    'resources-list': [],
    'sep-2164-resource-not-found': [],
    'dns-rebinding-protection': [],
    'http-header-validation': [],
    'input-required-result-unsupported-methods': [],
    caching: ['sep-2549-prompts-list-caching-hints'],
    'server-stateless': [
      'sep-2575-server-rejects-undeclared-capability',
      'sep-2575-missing-capability-http-400',
      'sep-2575-http-server-no-independent-requests-on-stream',
      'sep-2575-server-no-log-without-loglevel',
      'sep-2575-server-sends-subscription-ack',
      'sep-2575-server-tags-subscription-id',
    ],
  },
};

/** Puts the suite and the Node that it needs into a folder; undefined where they cannot be had. */
function install(folder) {
  const options = { stdio: 'ignore', timeout: INSTALL_MAX_MS };
  const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', 'node@22', SUITE];
  if (spawnSync('npm', args, options).status !== 0) return undefined;
  const node = join(folder, 'node_modules', '.bin', 'node');
  if (spawnSync(node, ['--version'], options).status !== 0) return undefined;
  return {
    node,
    suite: join(folder, 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js'),
  };
}

/** Starts the service on a data directory of its own; resolves with its address. */
function serve(folder) {
  const child = spawn(process.execPath, [join(ROOT, 'server', 'dist', 'main.js'), 'serve'], {
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      DATA_DIR: join(folder, 'data'),
      BOOTSTRAP_ADMIN_KEY: ADMIN_KEY,
      RATE_LIMIT_PER_MINUTE: '100000',
    },
  });
  let said = '';
  const url = new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      said += chunk;
      const found = /Purser listens on (\S+)\n/.exec(said);
      if (found !== null) resolve(found[1]);
    });
    child.on('close', () => reject(new Error(`The service did not start: ${said}`)));
  });
  const stop = () =>
    new Promise((resolve) => {
      child.on('close', resolve);
      child.kill('SIGTERM');
    });
  return { url, stop };
}

async function makeAgentKey(url) {
  const post = async (path, body) => {
    const headers = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' };
    const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return response.json();
  };
  const authority = { purpose: { objective: 'Keep the staging servers running' }, currency: 'EUR' };
  const { id } = await post('/v1/agents', { slug: 'conformance', authority });
  return (await post('/v1/api-keys', { name: 'conformance', agent_id: id })).key;
}

/** The suite sends no key, so this adds one; all else goes through as it is, `Host` and `Origin` above all. */
function addKey(url, key) {
  const { hostname, port } = new URL(url);
  const proxy = http.createServer((asked, answer) => {
    const headers = { ...asked.headers, 'x-api-key': key };
    const options = { host: hostname, port, path: asked.url, method: asked.method, headers };
    const onward = http.request(options, (told) => {
      answer.writeHead(told.statusCode, told.headers);
      told.pipe(answer);
    });
    onward.on('error', () => answer.destroy());
    asked.pipe(onward);
  });
  return new Promise((resolve) => proxy.listen(0, '127.0.0.1', () => resolve(proxy)));
}

/** Runs one scenario. Returns what failed beyond what is expected, and the suite's own count. */
function tryScenario({ node, suite }, url, revision, scenario, expected) {
  return new Promise((resolve) => {
    const args = [suite, 'server', '--url', url, '--scenario', scenario, '--spec-version', revision];
    const child = spawn(node, args, { cwd: tmpdir(), stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        said += chunk;
      });
    child.on('close', () => {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: colours.
      const plain = said.replace(/\x1b\[[0-9;]*m/g, '');
      const count = /Passed: (\d+\/\d+)/.exec(plain)?.[1];
      const failed = [...plain.matchAll(/\[(\S+)\s*\] FAILURE/g)].map(([, name]) => name);
      const unexpected = failed.filter((name) => !expected.includes(name));
      resolve({
        count: count ?? 'no result',
        ok: count !== undefined && unexpected.length === 0,
        unexpected,
      });
    });
  });
}

await prepare({ with_dev: true }).catch(fail);
const folder = mkdtempSync(join(tmpdir(), 'purser-conformance-'));
try {
  const tools = install(folder);
  if (tools === undefined) {
    console.error(`!! NOT TRIED: npm could not bring Node 22 and ${SUITE}. Nothing is known of conformance.`);
    process.exitCode = process.env.CI ? 1 : 0;
  } else {
    const service = serve(folder);
    const url = await service.url;
    const proxy = await addKey(url, await makeAgentKey(url));
    for (const [revision, scenarios] of Object.entries(APPLIES)) {
      for (const [scenario, expected] of Object.entries(scenarios)) {
        const at = `http://localhost:${proxy.address().port}/mcp`;
        const { count, ok, unexpected } = await tryScenario(tools, at, revision, scenario, expected);
        const left_out = expected.length === 0 ? '' : `, ${expected.length} do not apply`;
        console.log(
          `${ok ? 'ok  ' : 'FAIL'} ${revision} ${scenario} ${count}${left_out} ${unexpected.join(' ')}`,
        );
        if (!ok) process.exitCode = 1;
      }
    }
    proxy.closeAllConnections();
    proxy.close();
    await service.stop();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
