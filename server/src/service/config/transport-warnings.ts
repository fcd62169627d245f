import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import pg from 'pg';
import type { Config } from './config.ts';

/** Returns true if what is sent to that host stays on this machine. A name other than localhost may lead anywhere. */
function isLoopback(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '');
  if (isIP(name) === 0) return name === 'localhost';
  return ipaddr.process(name).range() === 'loopback';
}

/** Reads a URL as the driver does, with `sslmode`, `host` and PostgreSQL's own environment variables. */
function isOpenDatabase(url: string): boolean {
  const { host, ssl } = new pg.Client({ connectionString: url }) as unknown as { host: string; ssl: unknown };
  return !ssl && !host.startsWith('/') && !isLoopback(host);
}

function isOpenUrl(url: string, protocol: 'http:' | 'redis:'): boolean {
  const address = new URL(url);
  return address.protocol === protocol && !isLoopback(address.hostname);
}

type Addresses = Pick<Config, 'database_url' | 'redis_url' | 'purpose_model_url'>;

/** A sentence for each connection that leaves this machine and that anybody on the way can read. */
export function transportWarnings({ database_url, redis_url, purpose_model_url }: Addresses): string[] {
  const warnings: string[] = [];
  if (database_url !== null && isOpenDatabase(database_url)) {
    warnings.push(
      'DATABASE_URL connects to another machine without TLS: data and password can be read in transit; add sslmode=verify-full',
    );
  }
  if (redis_url !== null && isOpenUrl(redis_url, 'redis:')) {
    warnings.push(
      'REDIS_URL connects to another machine without TLS: the password can be read and the limits changed in transit; use rediss://',
    );
  }
  if (purpose_model_url !== null && isOpenUrl(purpose_model_url, 'http:')) {
    warnings.push(
      'PURPOSE_MODEL_URL is plain http to another machine: spends and the key can be read in transit',
    );
  }
  return warnings;
}
