export { CAPABILITY_META } from './agent-tools.ts';
export type { ApiAnswer, ApiRequest, CallApi } from './api.ts';
export { type KeyHolder, type Offers, offersOf } from './holder.ts';
export { type HttpEndpoint, makeHttpEndpoint } from './http.ts';
export { makePurserMcp, type PurserMcpOptions } from './server.ts';
export type { CapabilityMode } from './tool.ts';
export { VERSION } from './version.ts';
