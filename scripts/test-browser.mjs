// Runs the console's tests in a browser: `npm run test:browser`, or with options of Playwright behind `--`. Looks for a
// Chromium, and installs one where it can. Where there is none it says loudly what was left out.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fail, prepare, ROOT } from './prepare.mjs';

/** Where systems put it. */
const KNOWN = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];
const INSTALL_MAX_MS = 15 * 60_000;

const require = createRequire(join(ROOT, 'console', 'package.json'));

/** Playwright's own, if `npx playwright install chromium` put it there. */
async function playwrightsOwn() {
  const { chromium } = (await import(pathToFileURL(require.resolve('@playwright/test')).href)).default;
  const path = chromium.executablePath();
  return existsSync(path) ? path : undefined;
}

async function find() {
  const named = process.env.CHROMIUM_PATH;
  if (named) return existsSync(named) ? named : undefined;
  return KNOWN.find((path) => existsSync(path)) ?? (await playwrightsOwn());
}

const playwright = () => join(dirname(require.resolve('@playwright/test/package.json')), 'cli.js');

/** Debian's package, where we may install it; else Playwright's download. Whether it worked is seen by looking again. */
async function install() {
  console.error('Installing chromium for the tests in a browser…');
  const options = {
    // On the standard output stands what the tests say, and nothing else.
    stdio: ['ignore', 2, 2],
    timeout: INSTALL_MAX_MS,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  };
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    spawnSync('apt-get', ['update', '-q'], options);
    spawnSync('apt-get', ['install', '-y', '-q', '--no-install-recommends', 'chromium'], options);
    if ((await find()) !== undefined) return;
  }
  spawnSync(process.execPath, [playwright(), 'install', 'chromium'], options);
}

/**
 * Runs the suite. Resolves to its exit code; 0 where there is no browser, unless `CI` is set: there nothing may be left
 * out in silence.
 */
export async function testInBrowser(args) {
  let browser = await find();
  if (browser === undefined && !process.env.CHROMIUM_PATH) {
    await install();
    browser = await find();
  }
  if (browser === undefined) {
    const line = '!'.repeat(100);
    console.error(
      `${line}\nLEFT OUT: the console's tests in a browser (console/e2e), because no Chromium was found, and none could be installed.\nInstall one (apt-get install chromium, or npx playwright install chromium), or name it in CHROMIUM_PATH.\n${line}`,
    );
    return process.env.CI ? 1 : 0;
  }
  const config = join(ROOT, 'console', 'e2e', 'playwright.config.ts');
  const child = spawn(process.execPath, [playwright(), 'test', '--config', config, ...args], {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, CHROMIUM_PATH: browser },
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve(code ?? (signal === 'SIGINT' ? 130 : 143)));
  });
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await prepare({ with_dev: true }).catch(fail);
  process.exit(await testInBrowser(process.argv.slice(2)).catch(fail));
}
