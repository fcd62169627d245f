#!/usr/bin/env node
import { ConfigError, readConfig } from './config.ts';
import { startGateway } from './gateway.ts';
import { makeLog } from './log.ts';

const log = makeLog();
try {
  const gateway = await startGateway(readConfig(process.env), log);
  let is_stopping = false;
  const stop = () => {
    if (is_stopping) return;
    is_stopping = true;
    void gateway.stop().then(() => process.exit(0));
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  // Started beside the service, it stops with it.
  process.on('disconnect', stop);
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  process.stderr.write(`purser-gateway: ${error.message}\n`);
  process.exitCode = 1;
}
