import { PRESETS } from '../model-judge/pace.ts';
import {
  boolean,
  is,
  oneOf,
  optional,
  parseDailyLimit,
  parseModelParameters,
  parseModelPrices,
  parseModelUrl,
  parseVisible,
  RESERVED_PARAMETERS,
  type Setting,
  wholeNumber,
  withDefault,
} from './parse.ts';

/** The settings of the model that judges purpose. */
export const MODEL_SETTINGS = {
  PURPOSE_MODEL_URL: optional('the built-in assessor alone', {
    allowed: 'a URL that begins with http:// or https://, without a user name or password',
    meaning:
      "Endpoint of a model that gives a second opinion on purpose: Anthropic's, OpenAI's, or any compatible with OpenAI's chat; the protocol's path is added if it is missing.",
    parse: parseModelUrl,
  }),
  PURPOSE_MODEL_PROTOCOL: withDefault('auto', {
    ...oneOf(['auto', 'chat', 'responses', 'anthropic']),
    meaning:
      'Protocol of the model. auto follows the path of PURPOSE_MODEL_URL; without one it uses anthropic at api.anthropic.com, responses at api.openai.com, and chat everywhere else.',
  }),
  PURPOSE_MODEL: optional('no model', {
    allowed: 'the name of a model, 1 to 200 characters',
    meaning: 'Name of the model at PURPOSE_MODEL_URL; required with it.',
    parse: (text) => (text.length <= 200 && /^[^\p{Cc}]+$/u.test(text) ? text : is(text)),
  }),
  PURPOSE_MODEL_API_KEY: optional('no key is sent', {
    allowed: 'visible ASCII characters, 1,000 at most',
    meaning: 'Key sent to PURPOSE_MODEL_URL, in the way of its protocol.',
    parse: parseVisible,
  }),
  PURPOSE_MODEL_REQUIRED: withDefault('false', {
    ...boolean,
    meaning:
      "true lets a spend count as aligned only with the model's opinion, unless the operator listed the merchant or a person allowed it; false uses the built-in assessment when there is no opinion.",
  }),
  PURPOSE_MODEL_MAY_CLEAR: withDefault('false', {
    ...boolean,
    meaning:
      "true lets the model's opinion turn an unclear purpose into an aligned one if it quotes the operator; false lets it only lower an assessment.",
  }),
  PURPOSE_MODEL_PRESET: withDefault('auto', {
    ...oneOf(PRESETS),
    meaning:
      'local asks one call at a time, makes no second attempt, waits for the model to start, and gives spends that a person sees anyway three warm calls of time, 20 s at most. auto does so if PURPOSE_MODEL_TIMEOUT_MS is unset and a warm call takes over 500 ms. hosted never does.',
  }),
  PURPOSE_MODEL_TIMEOUT_MS: optional('1500, or longer for a slow model (PURPOSE_MODEL_PRESET)', {
    ...wholeNumber(1, 60_000),
    meaning:
      'Milliseconds that the model has to respond, and that a spend may wait for a free call before that; without a response there is no second opinion.',
  }),
  PURPOSE_MODEL_MAX_CONCURRENT: withDefault('16', {
    ...wholeNumber(1, 1_000),
    meaning:
      'Maximum concurrent calls to the model per process. One workspace may use at most three quarters of them, one agent half; further spends wait for a free call.',
  }),
  PURPOSE_MODEL_PARAMETERS: withDefault('{"temperature":0,"max_tokens":500}', {
    allowed: `a JSON object of at most 2,000 characters without ${RESERVED_PARAMETERS.join(', ')}`,
    meaning:
      'Further fields of each request to the model. Fields that the model refuses at the start (temperature, the name of the token limit) are omitted or renamed.',
    parse: parseModelParameters,
  }),
  PURPOSE_MODEL_PRICES: optional('tokens are counted, costs are not', {
    allowed:
      'a JSON object {"currency", "input", "output", "cached_input"?} with an ISO 4217 code and prices per million tokens',
    meaning: 'Prices of the model, for metrics and reports; cached_input defaults to input.',
    parse: parseModelPrices,
  }),
  PURPOSE_MODEL_DAILY_LIMIT: optional('no limit', {
    allowed: 'a whole number of tokens, or an amount with the currency of PURPOSE_MODEL_PRICES ("5.00 USD")',
    meaning:
      'Daily limit (UTC) of the calls for one workspace. Beyond it there is no opinion until the next day.',
    parse: parseDailyLimit,
  }),
} as const satisfies Record<string, Setting<unknown>>;
