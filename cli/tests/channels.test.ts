import { expect } from 'vitest';
import { takesMinutes } from '../../server/tests/support/until.ts';
import { startReceiver } from '../../server/tests/support/webhook-receiver.ts';
import { lines, programTest } from './world.ts';

takesMinutes(5);

const { test, s, run, makeAgent } = programTest({
  WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
  WEBHOOK_RETRY_FIRST_MS: '20',
  WEBHOOK_RETRY_MAX_MS: '50',
});

test('channel adds, lists, tests, disables, enables and removes a channel', async () => {
  const receiver = await startReceiver();
  const agent = await makeAgent();
  try {
    const add = ['channel', 'add', 'Finance', '--type', 'webhook', '--agent', agent, '--from-minor', '5000'];
    const added = await run(add, { env: { PURSER_CHANNEL_URL: receiver.url } });
    expect(added).toMatchObject({ code: 0, err: '' });
    expect(added.out).toMatch(/whsec_/);
    const [id = ''] = /chn_\w+/.exec(added.out) ?? [];
    const shown = (await s.call('GET', `/v1/channels/${id}`)).body;
    expect(shown).toMatchObject({ name: 'Finance', filter: { agents: [agent], from_minor: 5_000 } });

    const listed = await run(['channel', 'list']);
    expect(lines(listed.out)).toEqual([`${id}  UNUSED  webhook  127.0.0.1:${receiver.port}  Finance`]);
    expect(await run(['channel', 'test', id])).toMatchObject({ code: 0, out: 'Sent.\n' });
    expect(receiver.received).toHaveLength(1);
    receiver.answer = (_request, response) => response.writeHead(500).end();
    expect(await run(['channel', 'test', id])).toMatchObject({ code: 2, out: 'Not sent: bad_status.\n' });

    expect((await run(['channel', 'disable', id])).out).toContain('DISABLED');
    expect((await run(['channel', 'enable', id])).out).not.toContain('DISABLED');
    expect(await run(['channel', 'remove', id])).toMatchObject({ code: 0, out: 'Deleted.\n' });
    expect((await run(['channel', 'list'])).out).toBe('No channels.\n');
  } finally {
    await receiver.close();
  }
});
