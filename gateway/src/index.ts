export { type Config, ConfigError, readConfig } from './config.ts';
export { type Gateway, startGateway } from './gateway.ts';
export { type Log, makeLog } from './log.ts';
export { VERSION } from './version.ts';
