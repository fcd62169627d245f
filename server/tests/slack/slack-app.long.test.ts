import { describe, expect } from 'vitest';
import { refusal, startTestService } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import { type AppConnection, type SlackCall, startSlack } from '../support/slack-server.ts';
import { makeTeam, type Team, type TeamMember } from '../support/team.ts';
import { until } from '../support/until.ts';

const slack = await startSlack();
const { test, s, get, post, ask } = serviceTest({
  plan: 'enterprise',
  env: {
    SLACK_API_URL: slack.url,
    WEBHOOK_RETRY_FIRST_MS: '20',
    WEBHOOK_RETRY_MAX_MS: '50',
  },
});

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
type Shown = any;

let team: Team;
let bo: TeamMember;
let channel: Shown;
let users = 0;

test.beforeAll(async () => {
  team = await makeTeam(s);
  bo = await team.join('bo');
  channel = await post('/v1/channels', {
    name: 'Finance',
    type: 'slack_app',
    app_token: 'xapp-1-A0-secret',
    bot_token: 'xoxb-1-secret',
    channel: 'C0123ABCD',
  });
  await connection();
});
test.afterAll(() => slack.stop());

/** The newest open connection of the app. */
const connection = (): Promise<AppConnection> =>
  until(() => slack.connections.filter(({ is_closed }) => !is_closed).at(-1) ?? null);

const elementsOf = ({ body }: SlackCall): Shown[] =>
  body.blocks.flatMap((block: Shown) => (block.type === 'actions' ? block.elements : []));
const buttonOf = (call: SlackCall, action_id: string) =>
  elementsOf(call).find((element) => element.action_id === action_id);

/** The card that was posted for a decision. */
const cardOf = (decision_id: string): Promise<SlackCall> =>
  until(
    () =>
      slack.posted('chat.postMessage').find((call) => JSON.stringify(call.body).includes(decision_id)) ??
      null,
  );

/**
 * A request over the threshold alone, which is one click in either way, and its card. It is of a new agent: the sixth of one in
 * a minute would be counted in a summary.
 */
async function requested(amount_minor = 2_000) {
  const agent = await team.agent();
  const { decision_id } = await team.request(agent, amount_minor);
  return { decision_id, agent, card: await cardOf(decision_id) };
}

interface Clicked {
  user?: unknown;
  team?: unknown;
  action_id?: string;
  value?: unknown;
  more?: object;
}

/** The payload that Slack sends for a click. */
const clickOn = (card: SlackCall, given: Clicked = {}): Shown => {
  const action_id = given.action_id ?? 'purser_allow';
  const value = 'value' in given ? given.value : (buttonOf(card, action_id)?.value ?? null);
  return {
    type: 'block_actions',
    api_app_id: 'A0',
    team: { id: 'team' in given ? given.team : 'T0123ABCD', domain: 'example' },
    user: { id: 'user' in given ? given.user : 'U1', username: 'someone' },
    channel: { id: 'C0123ABCD', name: 'finance' },
    message: { ts: '1700000000.000001' },
    container: { type: 'message', message_ts: '1700000000.000001', channel_id: 'C0123ABCD' },
    actions: [{ type: 'button', action_id, block_id: 'b', value }],
    ...given.more,
  };
};

/** Sends a payload and waits until the app has acknowledged it. */
async function click(payload: unknown, envelope_id?: string): Promise<string> {
  const open = await connection();
  const before = open.acks.length;
  const id = open.send(payload, envelope_id);
  await until(() => open.acks.length > before);
  return id;
}

const whispersTo = (user: string) =>
  slack.posted('chat.postEphemeral').filter(({ body }) => body.user === user);
const reviewsOf = async (decision_id: string): Promise<Shown[]> =>
  (await get(`/v1/decisions/${decision_id}/reviews`)).data;

/** Has an account in Slack click while nobody has linked it. Returns the code of the link that it is shown. */
async function codeFor(user: string): Promise<string> {
  const { card } = await requested();
  await click(clickOn(card, { user }));
  const told = await until(() => whispersTo(user).at(-1) ?? null);
  const url = told.body.blocks.at(-1).elements[0].elements[0].url as string;
  expect(url).toMatch(/^http:\/\/localhost:\d+\/console\/me\/slack#[A-Za-z0-9_-]{27}$/);
  return url.split('#')[1] as string;
}

/** Links a new account with a member. Returns its user id in Slack. */
async function linked(member: TeamMember): Promise<string> {
  users += 1;
  const user = `U${users}LINKED`;
  const reply = await member.browser.call('POST', '/v1/me/slack', { body: { code: await codeFor(user) } });
  expect(reply.status, reply.text).toBe(201);
  return user;
}
const unlink = (member: TeamMember) => member.browser.call('DELETE', '/v1/me/slack');

describe('the channel', () => {
  test('shows the host and the channel, and its tokens nowhere', async () => {
    expect(channel).toMatchObject({ type: 'slack_app', target: 'slack.com C0123ABCD' });
    const audit = await get('/v1/audit?action=channel.created');
    for (const shown of [channel, await get('/v1/channels'), audit]) {
      expect(JSON.stringify(shown)).not.toContain('secret"');
      expect(JSON.stringify(shown)).not.toMatch(/x(app|oxb)-/);
    }
    expect((await s.sql('select channels::text as row from channels')).rows[0].row).not.toMatch(
      /x(app|oxb)-/,
    );
  });
  test.each([
    ['app_token', { app_token: 'xoxb-1' }],
    ['bot_token', { bot_token: 'xapp-1' }],
    ['channel', { channel: 'a b' }],
    ['url', { url: 'https://hooks.slack.com/x' }],
  ])('needs its own settings in their form: %s', async (field, wrong) => {
    const body = {
      name: 'Wrong',
      type: 'slack_app',
      app_token: 'xapp-1',
      bot_token: 'xoxb-1',
      channel: 'C1',
      ...wrong,
    };
    const reply = await s.call('POST', '/v1/channels', { body });
    expect(refusal(reply)).toEqual([400, 'invalid_request']);
    expect(reply.body.error.message).toMatch(new RegExp(`^${field}:`));
  });
  test('has one connection', () => {
    expect(slack.connections.map(({ app_token }) => app_token)).toEqual(['xapp-1-A0-secret']);
  });
});

describe('a card', () => {
  test('has the buttons of a request that one click may decide, both of which ask', async () => {
    const { decision_id, card } = await requested(124_000);
    expect(card.token).toBe('xoxb-1-secret');
    expect(card.body).toMatchObject({ channel: 'C0123ABCD', unfurl_links: false });
    expect(elementsOf(card).map(({ action_id }) => action_id)).toEqual([
      'purser_allow',
      'purser_deny',
      'purser_open',
    ]);
    for (const action_id of ['purser_allow', 'purser_deny']) {
      expect(buttonOf(card, action_id).confirm.text.text).toContain('EUR 1,240.00');
    }
    expect(buttonOf(card, 'purser_open').url).toMatch(new RegExp(`/console/decisions/${decision_id}$`));
    expect(JSON.stringify(card.body)).not.toContain('mrkdwn');
  });
  test('of a cause without a reason of its own has no Allow', async () => {
    const strict = await team.agent({ on_new_merchant: 'REVIEW', review_threshold_minor: 900_000 });
    const { decision_id } = await ask(undefined, 2_000, { action: { merchant: 'Nobody Ltd' } }, strict.key);
    const card = await cardOf(decision_id);
    expect(buttonOf(card, 'purser_allow')).toBeUndefined();
    expect(buttonOf(card, 'purser_open')).toBeDefined();
  });
});

describe('linking', () => {
  test('takes a code that one account was shown alone, once, and says whose it is before', async () => {
    const code = await codeFor('U0FIRST');
    const read = await bo.browser.call('POST', '/v1/me/slack/code', { body: { code } });
    expect(read.body).toEqual({ account: { team_id: 'T0123ABCD', user_id: 'U0FIRST' }, name: 'someone' });
    const reply = await bo.browser.call('POST', '/v1/me/slack', { body: { code } });
    expect(reply.status, reply.text).toBe(201);
    expect(reply.body.account).toEqual({ team_id: 'T0123ABCD', user_id: 'U0FIRST' });
    expect((await bo.browser.call('GET', '/v1/me/slack')).body.link).toEqual(reply.body);
    const again = await bo.browser.call('POST', '/v1/me/slack', { body: { code } });
    expect(refusal(again)).toEqual([400, 'invalid_request']);
    expect(again.body.error.message).toMatch(/^code:/);
    const [audited] = (await get('/v1/audit?action=member.slack_linked')).data;
    expect(audited).toMatchObject({
      target: { type: 'member', id: bo.user_id },
      actor: { type: 'user', principal_id: 'user:bo' },
      changes: { slack: { from: null, to: { team_id: 'T0123ABCD', user_id: 'U0FIRST' } } },
    });
    expect((await unlink(bo)).status).toBe(204);
    expect((await unlink(bo)).status).toBe(204);
    expect((await bo.browser.call('GET', '/v1/me/slack')).body.link).toBeNull();
  });
  test('needs a fresh proof, and a code that has not expired', async () => {
    const code = await codeFor('U0STALE');
    await s.sql("update sessions set proved_at = now() - interval '1 day'");
    const stale = await bo.browser.call('POST', '/v1/me/slack', { body: { code } });
    expect(refusal(stale)).toEqual([403, 'reauthentication_required']);
    await s.sql('update sessions set proved_at = now()');
    await s.sql("update slack_codes set expires_at = now() - interval '1 second'");
    const late = await bo.browser.call('POST', '/v1/me/slack', { body: { code } });
    expect(refusal(late)).toEqual([400, 'invalid_request']);
  });
  test('a newer code of an account ends its older one', async () => {
    const older = await codeFor('U0TWICE');
    const newer = await codeFor('U0TWICE');
    expect(older).not.toBe(newer);
    const reply = await bo.browser.call('POST', '/v1/me/slack', { body: { code: older } });
    expect(refusal(reply)).toEqual([400, 'invalid_request']);
  });
  test('gives one account to one member, also of two who link it at once', async () => {
    const user = await linked(bo);
    const { slack_account } = (
      await s.sql('select slack_account from slack_links where slack_account is not null')
    ).rows[0];
    expect(slack_account).toBe(`T0123ABCD/${user}`);
    const second = await bo.browser.call('POST', '/v1/me/slack', {
      body: { code: await codeFor('U0OTHER') },
    });
    expect(refusal(second)).toEqual([409, 'slack_taken']);
    await unlink(bo);
    const codes = [await codeFor('U0RACE')];
    const replies = await Promise.all(
      [bo, team.ada].map(({ browser }) => browser.call('POST', '/v1/me/slack', { body: { code: codes[0] } })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 400]);
    for (const member of [bo, team.ada]) await unlink(member);
  });
  test('is for members who may review', async () => {
    const vi = await team.join('vi', 'viewer');
    const reply = await vi.browser.call('POST', '/v1/me/slack', {
      body: { code: await codeFor('U0VIEWER') },
    });
    expect(refusal(reply)).toEqual([403, 'insufficient_scope']);
  });
});

describe('a click', () => {
  test('is the review of the member who linked the account, and the card says who decided', async () => {
    const user = await linked(bo);
    const { decision_id, card } = await requested();
    await click(clickOn(card, { user }));
    const [review] = await until(async () => {
      const found = await reviewsOf(decision_id);
      return found.length > 0 ? found : null;
    });
    expect(review).toMatchObject({
      action: 'ALLOW',
      reason_code: 'AMOUNT_OK',
      principal_id: 'user:bo',
      key_id: null,
      via: 'slack',
    });
    expect((await team.get(decision_id)).effective_decision).toBe('ALLOW');
    const update = await until(
      () =>
        slack.posted('chat.update').find(({ body }) => JSON.stringify(body).includes(decision_id)) ?? null,
    );
    expect(JSON.stringify(update.body.blocks)).toContain('Allowed by bo');
    expect(elementsOf(update).map(({ action_id }) => action_id)).toEqual(['purser_open']);
    expect(update.body).toMatchObject({ channel: 'C0123ABCD', ts: '1700000000.000001' });
    await unlink(bo);
  });

  test('that Slack sends twice is one review, under the same envelope or another', async () => {
    const user = await linked(bo);
    const { decision_id, card } = await requested();
    const told = whispersTo(user).length;
    const payload = clickOn(card, { user, action_id: 'purser_deny' });
    const open = await connection();
    const ids = ['same', 'same', 'other'].map((id) => open.send(payload, `${id}-${decision_id}`));
    await until(() => ids.every((id) => open.acks.includes(id)));
    expect(open.acks.filter((id) => id === ids[0])).toHaveLength(2);
    expect((await reviewsOf(decision_id)).map(({ action }) => action)).toEqual(['DENY']);
    expect(whispersTo(user), 'nothing went wrong for the person').toHaveLength(told);
    await unlink(bo);
  });

  test('on a request that was decided elsewhere changes nothing and shows who decided', async () => {
    const user = await linked(bo);
    const { decision_id, card } = await requested();
    await team.review(team.ada, decision_id, 'DENY');
    await click(clickOn(card, { user }));
    const update = await until(
      () =>
        slack.posted('chat.update').find(({ body }) => JSON.stringify(body).includes(decision_id)) ?? null,
    );
    expect(JSON.stringify(update.body)).toContain('Denied by');
    expect(await reviewsOf(decision_id)).toHaveLength(1);
    await unlink(bo);
  });

  test('is refused as any review, and the person alone learns why', async () => {
    const user = await linked(bo);
    const { decision_id, card, agent } = await requested();
    await s.call('POST', `/v1/agents/${agent.slug}/authority`, {
      body: { ...(await get(`/v1/agents/${agent.slug}/authority`)).authority, monthly_budget_minor: 900_000 },
    });
    await click(clickOn(card, { user }));
    const told = await until(
      () => whispersTo(user).find(({ body }) => JSON.stringify(body).includes(decision_id)) ?? null,
    );
    expect(told.body.text).toContain('authority');
    expect(await reviewsOf(decision_id)).toEqual([]);
    await unlink(bo);
  });

  test('counts no longer once the person may not review, lost their password, or is no member', async () => {
    const cy = await team.join('cy');
    const user = await linked(cy);
    const unchanged = async (why: string) => {
      const { decision_id, card } = await requested();
      const told = whispersTo(user).length;
      await click(clickOn(card, { user }));
      await until(() => whispersTo(user).length > told);
      expect(await reviewsOf(decision_id), why).toEqual([]);
    };
    await s.sql(`update users set credential_epoch = credential_epoch + 1 where user_id = '${cy.user_id}'`);
    await unchanged('another credential epoch');
    await s.sql(`update users set credential_epoch = credential_epoch - 1 where user_id = '${cy.user_id}'`);
    await s.sql(`update users set disabled_at = now() where user_id = '${cy.user_id}'`);
    await unchanged('a disabled account');
    await s.sql(`update users set disabled_at = null where user_id = '${cy.user_id}'`);
    await team.ada.browser.call('PATCH', `/v1/members/${cy.user_id}`, { body: { role: 'viewer' } });
    await unchanged('a viewer');
    await team.ada.browser.call('DELETE', `/v1/members/${cy.user_id}`);
    await unchanged('a removed member');
    const [gone] = (await get('/v1/audit?action=member.slack_unlinked')).data;
    expect(gone.target.id).toBe(cy.user_id);
  });

  test('never counts where the payload is not what Slack sends', async () => {
    const user = await linked(bo);
    const { decision_id, card } = await requested();
    const value = buttonOf(card, 'purser_allow').value as string;
    const [workspace_id, , of = ''] = value.split('/');
    const of_another = `${of.slice(0, -1)}${of.endsWith('Z') ? 'Y' : 'Z'}`;
    const forged: unknown[] = [
      null,
      'text',
      [],
      {},
      clickOn(card, { user: [user] }),
      clickOn(card, { user: { toString: 'x' } }),
      clickOn(card, { user: `${user} ` }),
      clickOn(card, { user: user.toLowerCase() }),
      clickOn(card, { user: `../${user}` }),
      clickOn(card, { user, team: 'T9' }),
      clickOn(card, { user, team: null }),
      clickOn(card, { user: '' }),
      clickOn(card, { user: null }),
      clickOn(card, { user: 'user:bo' }),
      clickOn(card, { user: bo.user_id }),
      clickOn(card, { user, more: { user: { id: user, team_id: 'T9' } } }),
      clickOn(card, { user, more: { type: 'view_submission' } }),
      clickOn(card, { user, more: { actions: [] } }),
      clickOn(card, { user, more: { channel: null } }),
      clickOn(card, { user, more: { message: { ts: '<!channel>' } } }),
      clickOn(card, { user, action_id: 'purser_open', value }),
      clickOn(card, { user, action_id: 'constructor', value }),
      clickOn(card, { user, action_id: '__proto__', value }),
      clickOn(card, { user, value: null }),
      clickOn(card, { user, value: of }),
      clickOn(card, { user, value: `${value}x` }),
      clickOn(card, { user, value: `${workspace_id}/${channel.id}/${of_another}` }),
      clickOn(card, { user, value: [value] }),
    ];
    const open = await connection();
    const ids = forged.map((payload, i) => open.send(payload, `forged-${i}`));
    for (const text of ['', '{', '[]', 'null', '{"type":"hello"}', '{"envelope_id":7}']) open.sendText(text);
    await until(() => ids.every((id) => open.acks.includes(id)));
    expect(await reviewsOf(decision_id)).toEqual([]);
    await click(clickOn(card, { user }));
    await until(async () => (await reviewsOf(decision_id)).length === 1);
    await unlink(bo);
  });

  test('on a channel of another app, or of another workspace, is no click', async () => {
    const user = await linked(bo);
    const { decision_id, card } = await requested();
    const other = await post('/v1/channels', {
      name: 'Other app',
      type: 'slack_app',
      app_token: 'xapp-2',
      bot_token: 'xoxb-2',
      channel: 'C2',
    });
    const foreign = await until(
      () => slack.connections.find((each) => each.app_token === 'xapp-2' && !each.is_closed) ?? null,
    );
    const id = foreign.send(clickOn(card, { user }));
    await until(() => foreign.acks.includes(id));
    expect(await reviewsOf(decision_id)).toEqual([]);
    await s.call('DELETE', `/v1/channels/${other.id}`);
    await until(() => foreign.is_closed);
    await unlink(bo);
  });
});

describe('the connection', () => {
  test('is replaced before Slack closes it, and clicks on either side count', async () => {
    const user = await linked(bo);
    const [first, second] = [await requested(), await requested()];
    const before = await connection();
    before.disconnect('refresh_requested');
    const after = await until(
      () => slack.connections.find((each) => each !== before && !each.is_closed) ?? null,
    );
    before.send(clickOn(first.card, { user }));
    after.send(clickOn(second.card, { user }));
    for (const { decision_id } of [first, second]) {
      await until(async () => (await reviewsOf(decision_id)).length === 1);
    }
    await unlink(bo);
  });
  test('is made again when it breaks, after the pause that Slack asks for', async () => {
    await connection();
    const known = new Set(slack.connections);
    const calls = () => slack.calls.filter(({ method }) => method === 'apps.connections.open').length;
    const asked = calls();
    slack.answerNext('apps.connections.open', { status: 429, headers: { 'retry-after': '1' }, body: {} });
    for (const each of slack.connections) each.cut();
    const after = await until(
      () => slack.connections.find((each) => !each.is_closed && !known.has(each)) ?? null,
    );
    expect(calls()).toBe(asked + 2);
    expect(after.app_token).toBe('xapp-1-A0-secret');
  });
});

describe('sending', () => {
  test('waits as long as Slack asks for, and loses nothing', async () => {
    slack.answerNext('chat.postMessage', { status: 429, headers: { 'retry-after': '1' }, body: {} });
    const { decision_id } = await requested();
    const sent = await until(async () => {
      const found = (await get(`/v1/notices?decision=${decision_id}`)).data;
      return (
        found.find(({ status, channel_id }: Shown) => channel_id === channel.id && status === 'SENT') ?? null
      );
    });
    expect(sent.attempts).toBe(2);
  });
  test('of what Slack refuses fails with its code', async () => {
    const refused = Array.from({ length: 5 }, () => ({ body: { ok: false, error: 'channel_not_found' } }));
    slack.answerNext('chat.postMessage', ...refused);
    const { decision_id } = await team.request(await team.agent(), 2_000);
    const failed = await until(async () => {
      const found = (await get(`/v1/notices?decision=${decision_id}`)).data;
      return found.find(({ status }: Shown) => status === 'FAILED') ?? null;
    });
    expect(failed).toMatchObject({ attempts: 5, error: 'channel_not_found' });
    expect((await get(`/v1/channels/${channel.id}`)).health.state).toBe('FAILING');
    await requested();
    await until(async () => (await get(`/v1/channels/${channel.id}`)).health.state === 'HEALTHY');
  });
});

test('of two nodes one is connected, and the other takes over when it stops', async () => {
  const second = await startTestService({ beside: s, env: { SLACK_API_URL: slack.url } });
  await s.sql("update slack_connections set leased_until = now() - interval '1 minute'");
  // One of the two is faster; there is one lease and one open connection.
  await until(
    () =>
      slack.connections.filter(({ is_closed, app_token }) => !is_closed && app_token.endsWith('secret'))
        .length === 1,
  );
  expect((await s.sql('select count(*)::int from slack_connections')).rows[0].count).toBe(1);
  await second.stop();
  const user = await linked(bo);
  const { decision_id, card } = await requested();
  await click(clickOn(card, { user }));
  await until(async () => (await reviewsOf(decision_id)).length === 1);
  await unlink(bo);
});

test('the history with all of this is valid, and an edited link is found', async () => {
  await linked(bo);
  expect(await get('/v1/ledger/verify')).toMatchObject({ valid: true });
  await s.sql("update slack_links set slack_account = 'T0123ABCD/UEVIL' where slack_account is not null");
  const verdict = await get('/v1/ledger/verify');
  expect(verdict.valid).toBe(false);
  expect(verdict.breaks[0].detail).toContain('slack_link');
});
