import { optional, parseVisible, wholeNumber } from './parse.ts';

/** The settings of a gateway for model calls that runs beside the service. */
export const GATEWAY_SETTINGS = {
  GATEWAY_PORT: optional('no gateway runs beside the service', {
    ...wholeNumber(0, 65_535),
    meaning:
      "Port of a gateway for model calls that starts and stops with the service; 0 picks a free one and prints it. The gateway's other settings are in the guide on models.",
  }),
  PURSER_ADAPTER_KEY: optional('the gateway makes a key in the only workspace', {
    allowed: 'visible ASCII characters, 1,000 at most',
    meaning: 'A key with the scope consume for that gateway; required with more than one workspace.',
    parse: parseVisible,
  }),
};
