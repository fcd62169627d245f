import { type Static, Type } from 'typebox';
import { Fields, Formed, Line, OneOf } from '../schema.ts';

/** The longest name of a model, in characters. */
const MAX_MODEL_NAME = 128;
const MAX_MODELS = 100;
const MAX_USAGE_LINES = 50;

/** The largest `usage` of an outcome, in bytes of JSON. */
export const MAX_USAGE_BYTES = 8_192;

/** Answers to a budget in which less is left than a call may cost. */
export const ON_LOW_BUDGET = ['LOWER', 'REFUSE'] as const;
/** Answers to a model without a known price. */
export const ON_UNKNOWN_PRICE = ['REFUSE', 'HIGHEST_PRICE'] as const;

/** The defaults of `model_usage`. */
export const MODEL_USAGE_DEFAULTS = { on_low_budget: 'LOWER', on_unknown_price: 'REFUSE' } as const;

/** The field `model_usage` of an authority. */
export const ModelUsageBody = Fields(
  {
    models: Type.Optional(
      Type.Array(
        Formed(
          `^([!-)+-~]{1,${MAX_MODEL_NAME}}|[!-)+-~]{0,${MAX_MODEL_NAME - 1}}[*])$`,
          `must be a model's name of 1 to ${MAX_MODEL_NAME} visible ASCII characters, with "*" only at its end`,
        ),
        {
          minItems: 1,
          maxItems: MAX_MODELS,
          description:
            'Models that may be called, by the names that the provider uses; `*` at the end stands for any rest. By default all that have a price.',
          examples: [['gpt-5-mini', 'claude-*']],
        },
      ),
    ),
    on_low_budget: Type.Optional(
      OneOf(ON_LOW_BUDGET, {
        description:
          'If less is left than a call may cost: `LOWER` lowers its output limit, `REFUSE` refuses it; defaults to `LOWER`.',
      }),
    ),
    on_unknown_price: Type.Optional(
      OneOf(ON_UNKNOWN_PRICE, {
        description:
          "A model without a known price: `REFUSE` refuses the call, `HIGHEST_PRICE` counts it at the provider's highest price; defaults to `REFUSE`.",
      }),
    ),
  },
  { $id: 'ModelUsage', examples: [{ models: ['gpt-5-mini', 'claude-*'] }] },
);
/** The terms under which an agent may call models through a gateway, which obeys them. */
export interface ModelUsage extends Static<typeof ModelUsageBody> {}

const Decimal = (description: string, example: string) =>
  Formed('^(0|[1-9][0-9]{0,15})(\\.[0-9]{1,18})?$', 'must be a decimal number such as "0.25"', {
    description,
    examples: [example],
  });
const perMillion = (of: string, example: string) =>
  Type.Optional(Decimal(`${of}, per million tokens in major units.`, example));
const count = (description: string) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description });

const UsageLineBody = Fields(
  {
    model: Line({ max: MAX_MODEL_NAME }, { examples: ['gpt-5-mini'] }),
    calls: count('Number of calls.'),
    uncertain_calls: count('Calls that are counted at their worst case in part, or at 0 without a price.'),
    input_tokens: count('Input tokens that were neither read from a cache nor written to one.'),
    cached_input_tokens: count('Input tokens read from a cache.'),
    cache_write_tokens: count('Input tokens written to a cache.'),
    output_tokens: count('Output tokens.'),
    amount: Decimal("In major units of the decision's currency.", '0.00001234500'),
    price: Type.Optional(
      Fields(
        {
          per_million: Fields({
            input: perMillion('Input', '0.25'),
            cached_input: perMillion('Input read from a cache', '0.025'),
            cache_write: perMillion('Input written to a cache', '0.25'),
            cache_write_1h: perMillion('Input written to a cache for an hour', '0.25'),
            output: perMillion('Output', '2'),
          }),
          source: Line({ max: 500 }, { examples: ['https://openai.com/api/pricing'] }),
          as_of: Formed('^[0-9]{4}-[0-9]{2}-[0-9]{2}$', 'must be a date such as 2026-11-20', {
            examples: ['2026-11-20'],
          }),
        },
        { $id: 'ModelPrice', description: 'Omitted if no price was known.' },
      ),
    ),
  },
  { $id: 'ModelUsageLine', description: 'The calls of one model.' },
);
/** The calls of one model that an outcome accounts for. */
export interface UsageLine extends Static<typeof UsageLineBody> {}

/** The `usage` of an outcome: what the money of a lease was spent on, model by model. */
export const UsageBody = Type.Array(UsageLineBody, {
  minItems: 1,
  maxItems: MAX_USAGE_LINES,
  description: `The calls that a gateway settled since its last report, by model: at most ${MAX_USAGE_BYTES} bytes of JSON, and only with the source PAYMENT_RAIL.`,
});
