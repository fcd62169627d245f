import dgram from 'node:dgram';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeResolve, type Resolve } from '../../src/service/webhook-delivery/addresses.ts';
import { connectEndpoint } from '../../src/service/webhook-delivery/client.ts';
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts';

const A = 1;
const AAAA = 28;
const NXDOMAIN = 3;
const SERVFAIL = 2;

interface Zone {
  code?: number;
  silent?: boolean;
  [A]?: number[][];
  [AAAA]?: number[][];
}
const v6 = (last: number) => [0x26, 0x06, 0x47, ...Array(12).fill(0), last];
/** What the name server knows. */
const ZONES: Record<string, Zone> = {
  'both.example.com': {
    [A]: [
      [8, 8, 4, 4],
      [8, 8, 8, 8],
    ],
    [AAAA]: [v6(1)],
  },
  'four.example.com': { [A]: [[8, 8, 8, 8]] },
  'six.example.com': { [AAAA]: [v6(2)] },
  'half.example.com': { [A]: [[127, 0, 0, 1]], [AAAA]: [v6(3)] },
  'gone.example.com': { code: NXDOMAIN },
  'broken.example.com': { code: SERVFAIL },
  'silent.example.com': { silent: true },
};

const server = dgram.createSocket('udp4');
let resolve: Resolve;
let receiver: Receiver;

/** Answers a question of one name: the least of RFC 1035 that a resolver takes. */
function answer(question: Buffer): Buffer | null {
  let at = 12;
  const labels: string[] = [];
  for (let length = question[at] as number; length > 0; length = question[at] as number) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = question.readUInt16BE(at + 1);
  const zone = ZONES[labels.join('.').toLowerCase()] ?? { code: NXDOMAIN };
  if (zone.silent === true) return null;
  const records = (type === A ? zone[A] : type === AAAA ? zone[AAAA] : undefined) ?? [];
  const header = Buffer.alloc(12);
  question.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8180 | (zone.code ?? 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  const answers = records.map((address) => {
    const record = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, address.length]);
    return Buffer.concat([record, Buffer.from(address)]);
  });
  return Buffer.concat([header, question.subarray(12, at + 5), ...answers]);
}

beforeAll(async () => {
  server.on('message', (question, from) => {
    const reply = answer(question);
    if (reply !== null) server.send(reply, from.port, from.address);
  });
  await new Promise<void>((bound) => server.bind(0, '127.0.0.1', bound));
  resolve = makeResolve([`127.0.0.1:${(server.address() as AddressInfo).port}`]);
  receiver = await startReceiver();
});
afterAll(async () => {
  server.close();
  await receiver.close();
});

test('a name has the addresses of both kinds, IPv4 first, whichever of them there are', async () => {
  expect((await resolve('both.example.com')).map((each) => each.includes(':'))).toEqual([false, false, true]);
  expect(await resolve('four.example.com')).toEqual(['8.8.8.8']);
  expect(await resolve('six.example.com')).toEqual(['2606:4700::2']);
});

test('a name that does not exist has none, and a server that fails is no answer', async () => {
  expect(await resolve('gone.example.com')).toEqual([]);
  await expect(resolve('broken.example.com')).rejects.toThrow();
});

test('over the real resolver: a private address among public ones, no name, a failing and a silent server', async () => {
  const post = async (name: string) => {
    const to = connectEndpoint(`http://${name}:${receiver.port}/`, {
      resolve,
      allow_private: false,
      timeout_ms: 500,
      connections: 1,
    });
    const { error } = await to.post({}, '{}');
    to.close();
    return error;
  };
  expect(await post('half.example.com')).toBe('blocked_address');
  expect(await post('gone.example.com')).toBe('dns_error');
  expect(await post('broken.example.com')).toBe('dns_error');
  expect(await post('silent.example.com')).toBe('timeout');
  expect(receiver.connections()).toBe(0);
});
