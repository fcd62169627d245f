import { readFile } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { freePort, serviceEnvironment, startServing } from '../demo/purser-process.ts';
import { findViolations } from './invariants.ts';
import { shown } from './kills.ts';
import { between } from './random.ts';
import { type Finding, makeStage, type ScenarioContext } from './stage.ts';

/** What a proxy does to the bytes between a service and its PostgreSQL. */
const FAULTS = ['lose-commit-answers', 'cut', 'swallow', 'half-open'] as const;
type Fault = (typeof FAULTS)[number] | 'none';

/** A plain TCP proxy in front of a PostgreSQL. */
export interface Proxy {
  port: number;
  /** From now on; connections that are open feel it too. */
  break(fault: Fault): void;
  /** Where it leads, from the next connection on. */
  to(target: { path: string } | { host: string; port: number }): void;
  cutAll(): void;
  close(): void;
}

/** Opens a proxy on a port of its own. */
export async function openProxy(target: { path: string } | { host: string; port: number }): Promise<Proxy> {
  let fault: Fault = 'none';
  let leads_to = target;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const database = connect(leads_to as never);
    let answers_lost = false;
    for (const socket of [client, database]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        database.destroy();
      });
    }
    client.on('data', (bytes) => {
      if (fault === 'swallow') return;
      if (fault === 'lose-commit-answers' && bytes.includes('commit\0')) answers_lost = true;
      database.write(bytes);
    });
    database.on('data', (bytes) => {
      if (answers_lost) client.destroy();
      else if (fault !== 'swallow' && fault !== 'half-open') client.write(bytes);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as { port: number };
  return {
    port,
    break(next) {
      fault = next;
      if (fault === 'cut') for (const socket of sockets) socket.destroy();
    },
    to(next) {
      leads_to = next;
    },
    cutAll() {
      for (const socket of sockets) socket.destroy();
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

const CLIENTS = 16;
/** The deadline of a request is five seconds; a busy machine may be late by a little. */
const ANSWERED_WITHIN_MS = 5_500;
const HEALED_WITHIN_MS = 10_000;

/** A node whose connections to PostgreSQL lose answers, are cut, swallow everything or become half-open. */
export async function brokenConnections(context: ScenarioContext): Promise<Finding> {
  const { random, share, say, signal } = context;
  const rounds = Math.max(1, Math.round(5 * share));
  const stage = await makeStage(context);
  const database = await stage.database();
  const proxy = await openProxy({ path: join(database.host as string, `.s.PGSQL.${database.port}`) });
  const port = await freePort();
  const secret_key = (await readFile(join(stage.data_dir, 'secret-key'), 'utf8')).trim();
  const node = await startServing({
    env: serviceEnvironment(context.env, [], {
      DATABASE_URL: `postgresql://purser@127.0.0.1:${proxy.port}/purser`,
      SECRET_KEY: secret_key,
      DATA_DIR: join(stage.data_dir, 'second-node'),
      RATE_LIMIT_PER_MINUTE: '10000000',
      PORT: String(port),
    }),
    output_file: join(stage.data_dir, 'second-node.log'),
    signal,
  });
  try {
    const recorder = stage.makeRecorder(CLIENTS, () => node.base_url);
    recorder.start();
    const problems: string[] = [];
    const healed_ms: number[] = [];
    for (let round = 1; round <= rounds; round++) {
      for (const fault of FAULTS) {
        await context.wait(between(random, 300, 1_000));
        proxy.break(fault);
        await context.wait(fault === 'cut' ? 50 : between(random, 1_000, 7_000));
        proxy.break('none');
        const took_ms = await recorder.nextAcknowledged(HEALED_WITHIN_MS);
        if (took_ms === null)
          problems.push(`${fault}: no decision within ${HEALED_WITHIN_MS} ms of its end.`);
        healed_ms.push(took_ms ?? HEALED_WITHIN_MS);
      }
      say(`  ${round} of ${rounds}: ${recorder.acknowledged()} acknowledged`);
    }
    await recorder.stop();
    problems.push(...(await findViolations(recorder, stage.client, database)));
    const figures = recorder.figures();
    if (figures.slowest_ms > ANSWERED_WITHIN_MS) {
      problems.push(`An answer took ${Math.round(figures.slowest_ms)} ms.`);
    }
    return {
      figures: {
        faults: rounds * FAULTS.length,
        ...shown(figures),
        slowest_healed_ms: Math.round(Math.max(...healed_ms)),
      },
      problems,
    };
  } finally {
    await node.end();
    proxy.close();
    await stage.close();
  }
}
