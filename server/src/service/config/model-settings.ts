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
    allowed: 'a URL that begins with http:// or https:// and holds no user name or password',
    meaning:
      "A model's endpoint, asked for its opinion on purpose: Anthropic's, OpenAI's, or any that is compatible with OpenAI's chat; the protocol's path is added when it is not there.",
    parse: parseModelUrl,
  }),
  PURPOSE_MODEL_PROTOCOL: withDefault('auto', {
    ...oneOf(['auto', 'chat', 'responses', 'anthropic']),
    meaning:
      'How the model is talked to. auto goes by PURPOSE_MODEL_URL: by its path, else anthropic at api.anthropic.com, responses at api.openai.com, and chat everywhere else.',
  }),
  PURPOSE_MODEL: optional('no model', {
    allowed: 'the name of a model, 1 to 200 characters',
    meaning: 'Name of the model at PURPOSE_MODEL_URL; required with it.',
    parse: (text) => (text.length <= 200 && /^[^\p{Cc}]+$/u.test(text) ? text : is(text)),
  }),
  PURPOSE_MODEL_API_KEY: optional('no key is sent', {
    allowed: 'visible ASCII characters, 1,000 at most',
    meaning: 'Key sent to PURPOSE_MODEL_URL, as its protocol says.',
    parse: parseVisible,
  }),
  PURPOSE_MODEL_REQUIRED: withDefault('false', {
    ...boolean,
    meaning:
      "true lets nothing count as aligned without the model's opinion, but what the operator listed or a person allowed; otherwise the built-in assessment stands where there is none.",
  }),
  PURPOSE_MODEL_MAY_CLEAR: withDefault('false', {
    ...boolean,
    meaning:
      "true lets the model's opinion turn an unclear purpose into an aligned one where it quotes the operator; otherwise it can only lower an assessment.",
  }),
  PURPOSE_MODEL_TIMEOUT_MS: withDefault('1500', {
    ...wholeNumber(1, 60_000),
    meaning:
      'Milliseconds within which the model has to answer, and for which a spend waits for a place before; without an answer there is no second opinion.',
  }),
  PURPOSE_MODEL_MAX_CONCURRENT: withDefault('16', {
    ...wholeNumber(1, 1_000),
    meaning:
      'Calls to the model that a process has under way at once, of which one workspace has three quarters and one agent half at the most; spends beyond them wait for a place.',
  }),
  PURPOSE_MODEL_PARAMETERS: withDefault('{"temperature":0,"max_tokens":500}', {
    allowed: `a JSON object of at most 2,000 characters without ${RESERVED_PARAMETERS.join(', ')}`,
    meaning:
      'Further fields of each request to the model. Those that the model refuses at the start (temperature, the name of the limit of tokens) are left out or renamed.',
    parse: parseModelParameters,
  }),
  PURPOSE_MODEL_PRICES: optional('tokens are counted, money is not', {
    allowed:
      'a JSON object {"currency", "input", "output", "cached_input"?} with an ISO 4217 code and prices for a million tokens',
    meaning: 'What the model costs, for metrics and reports; cached_input is input when left out.',
    parse: parseModelPrices,
  }),
  PURPOSE_MODEL_DAILY_LIMIT: optional('no limit', {
    allowed: 'a whole number of tokens, or an amount with the currency of PURPOSE_MODEL_PRICES ("5.00 USD")',
    meaning:
      'What the calls for one workspace may come to in a day (UTC). Beyond it there is no opinion until the next day.',
    parse: parseDailyLimit,
  }),
} as const satisfies Record<string, Setting<unknown>>;
