import { MODEL_USAGE_DEFAULTS } from '@purser/contract/models/fields';
import type { Authority } from '@purser/sdk';
import { linesOf, listOf } from './lines.ts';

/** The form's copy of `model_usage`. */
export interface ModelUsageDraft {
  /** `true` or empty. */
  allow_model_calls: string;
  /** One line per entry. */
  models: string;
  on_low_budget: string;
  on_unknown_price: string;
}

/** Drafts `model_usage`, with the defaults of what it leaves out. */
export function modelUsageDraft(usage: Authority['model_usage']): ModelUsageDraft {
  return {
    allow_model_calls: usage === undefined ? '' : 'true',
    models: linesOf(usage?.models),
    on_low_budget: usage?.on_low_budget ?? MODEL_USAGE_DEFAULTS.on_low_budget,
    on_unknown_price: usage?.on_unknown_price ?? MODEL_USAGE_DEFAULTS.on_unknown_price,
  };
}

/** Reads `model_usage` from the form; null: model calls are not allowed. An omitted choice stays omitted, as in `base`. */
export function modelUsageOf(draft: ModelUsageDraft, base: Authority['model_usage']): object | null {
  if (draft.allow_model_calls !== 'true') return null;
  const models = listOf(draft.models);
  const chosen = (['on_low_budget', 'on_unknown_price'] as const).filter(
    (name) => draft[name] !== MODEL_USAGE_DEFAULTS[name] || base?.[name] !== undefined,
  );
  return {
    ...(models.length === 0 ? {} : { models }),
    ...Object.fromEntries(chosen.map((name) => [name, draft[name]])),
  };
}
