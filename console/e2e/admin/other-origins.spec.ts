import { expectSettled } from '../support/axe.ts';
import { fill } from '../support/fill.ts';
import { startReceiver } from '../support/receiver.ts';
import { OPEN_SCREENS, SCREENS, screensOf } from '../support/screens.ts';
import { expect, test } from '../support/test.ts';

test('no screen sends a request to another origin', async ({ page, workspace, expected }) => {
  const receiver = await startReceiver();
  const origins = new Map<string, string>();
  let path = '';
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (/^https?:$/.test(protocol)) origins.set(origin, path);
  });
  page.on('websocket', (socket) => origins.set(new URL(socket.url()).origin, path));
  try {
    const filled = await fill(workspace, receiver.url);
    const [attempt] = await workspace.attempts(1);
    const inside = [...SCREENS, ...screensOf(filled, attempt, receiver.url)];
    for (const [at, heading] of inside) {
      path = at;
      await page.goto(`/console${at}`);
      await expectSettled(page, heading);
    }
    expected.answer(401, /^\/v1\//);
    await page.context().clearCookies();
    for (const [at, heading] of OPEN_SCREENS) {
      path = at;
      await page.goto(`/console${at}`);
      await expectSettled(page, heading);
    }
  } finally {
    await receiver.stop();
  }
  expect([...origins.keys()], JSON.stringify([...origins])).toEqual([new URL(workspace.base_url).origin]);
});
