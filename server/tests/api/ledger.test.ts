import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openCheckpoint, readPublicKeys, type VerifyingKey } from '@purser/rules/domain/checkpoints';
import { describe, expect } from 'vitest';
import { makeExportVerifier } from '../../src/engine/verification/ledger-export.ts';
import { startTestService } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import { takesMinutes, until } from '../support/until.ts';

takesMinutes(5);

const { test, s, get, ask, makeAgent } = serviceTest();
test.beforeAll(async () => {
  await makeAgent({}, { slug: 'a' });
  for (let i = 1; i <= 60; i++) await decide(i);
});

const decide = (amount: number) => ask('a', amount);
const verify = (query = '') => get(`/v1/ledger/verify${query}`);
const publicKey = async () => {
  const answer = await fetch(`${s.url}/.well-known/jwks.json`);
  expect(answer.status).toBe(200);
  const [key, ...others] = readPublicKeys(await answer.text());
  expect(others).toEqual([]);
  return key as VerifyingKey;
};
function verdictOf(text: string, key: VerifyingKey) {
  const verifier = makeExportVerifier([key]);
  const lines = text.split('\n');
  for (const line of lines.slice(0, -1)) verifier.line(Buffer.from(line));
  return verifier.end(Buffer.from(lines.at(-1) as string));
}

describe('checkpoints', () => {
  test('every change gets a checkpoint, signed with the published key, in the answer and in a file', async () => {
    const key = await publicKey();
    await decide(5);
    const { head } = await verify();
    const { checkpoint, valid } = await until(async () => {
      const found = await verify();
      return found.checkpoint?.seq === head.seq ? found : undefined;
    });
    expect(valid).toBe(true);
    expect(checkpoint).toMatchObject({ seq: head.seq, hash: head.hash, key_id: key.key_id });
    expect(openCheckpoint(checkpoint.note, [key])).toMatchObject({
      workspace_id: s.workspace_id,
      seq: head.seq,
      signed_at: checkpoint.signed_at,
    });
    const folder = join(s.checkpoint_dir, s.workspace_id);
    const name = `${String(head.seq).padStart(16, '0')}.txt`;
    await until(async () => ((await readdir(folder)).includes(name) ? true : undefined));
    expect(openCheckpoint(await readFile(join(folder, name), 'utf8'), [key])?.hash.toString('hex')).toBe(
      head.hash.slice('sha256:'.length),
    );
  });
  test('every node makes checkpoints of a workspace, and reads those of the others', async () => {
    const node = await startTestService({ beside: s });
    try {
      await decide(6);
      const { head } = await verify();
      const name = `${String(head.seq).padStart(16, '0')}.txt`;
      for (const { checkpoint_dir } of [s, node]) {
        await until(async () => {
          const names = await readdir(join(checkpoint_dir, s.workspace_id)).catch(() => [] as string[]);
          return names.includes(name) ? true : undefined;
        });
      }
      expect((await node.call('GET', '/v1/ledger/verify')).body).toMatchObject({
        valid: true,
        checkpoint: { seq: head.seq },
      });
    } finally {
      await node.stop();
    }
  });
});

describe('the public keys', () => {
  test('the public keys are a JWK set that needs no API key', async () => {
    const answer = await fetch(`${s.url}/.well-known/jwks.json`);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(await answer.json()).toEqual({
      keys: [
        {
          kty: 'OKP',
          crv: 'Ed25519',
          x: expect.stringMatching(/^[\w-]{43}$/),
          kid: expect.stringMatching(/^[\w-]{43}$/),
          use: 'sig',
          alg: 'EdDSA',
        },
      ],
    });
  });
});

describe('verification while others write', () => {
  test('verification is valid at every moment while others write', async () => {
    let is_over = false;
    const writing = (async () => {
      for (let i = 0; i < 60; i++) await Promise.all([decide(1), decide(2), decide(3)]);
      is_over = true;
    })();
    let last = 0;
    do {
      const found = await verify();
      expect(found.breaks).toEqual([]);
      expect(found.events_checked).toBe(found.head.seq);
      expect(found.head.seq).toBeGreaterThanOrEqual(last);
      last = found.head.seq;
    } while (!is_over);
    await writing;
  });
  test('a verification goes on from where the last one ended', async () => {
    const { head } = await verify();
    await decide(7);
    expect(await verify(`?since=${head.seq}`)).toMatchObject({ valid: true, events_checked: 1 });
    expect(await verify('?since=1000000')).toMatchObject({
      valid: false,
      first_break_seq: head.seq + 2,
      breaks: [{ kind: 'TRUNCATED' }],
    });
  });
});

describe('the export', () => {
  test('the export is JSON Lines that verify offline, whole and from an event on', async () => {
    const key = await publicKey();
    const answer = await s.call('GET', '/v1/ledger/export');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
    const { head } = await verify();
    expect(verdictOf(answer.text, key)).toMatchObject({
      valid: true,
      events_checked: head.seq,
      signed_through_seq: head.seq,
    });
    const rest = await s.call('GET', `/v1/ledger/export?since=${head.seq - 3}`);
    expect(verdictOf(rest.text, key)).toMatchObject({ valid: true, events_checked: 3, since: head.seq - 3 });
    expect((await s.call('GET', '/v1/ledger/export?since=x')).status).toBe(400);
  });
  test('the export needs the scope read', async () => {
    const { key } = (await s.call('POST', '/v1/api-keys', { body: { name: 'k', scopes: ['consume'] } })).body;
    expect((await s.call('GET', '/v1/ledger/export', { key })).status).toBe(403);
  });
});
