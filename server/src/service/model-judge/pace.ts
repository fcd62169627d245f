import type { Probing } from './probe.ts';

/** The time limit of a call where neither the operator nor the model's own pace sets one, ms. */
export const DEFAULT_TIMEOUT_MS = 1_500;
/** The longest time limit that follows from the model's pace, ms. */
export const MAX_TIMEOUT_MS = 20_000;
/** A call may take this multiple of a warm one. */
const PATIENCE = 3;
/** A spend may wait this multiple of a warm call until it is its turn. */
const TURNS = 6;

export const PRESETS = ['auto', 'local', 'hosted'] as const;
export type Preset = (typeof PRESETS)[number];

/** The terms on which one spend is shown to the model. */
export interface Terms {
  timeout_ms: number;
  /** The time that it may wait for its turn before that, ms. */
  wait_ms: number;
  /** A second attempt may be made. */
  may_repeat: boolean;
  /** The endpoint answers one call at a time, so that another one would only slow it down. */
  one_at_a_time: boolean;
}

/** The pace of the model behind an endpoint. */
export interface Pace {
  /** True if the model answers one call at a time, in its own time. */
  isLocal(): boolean;
  /**
   * Returns the terms for a spend. `is_review_anyway`: a person sees it in any case, so that it costs nothing to wait for a
   * slow model, also until it has started.
   */
  termsOf(is_review_anyway: boolean): Terms | Promise<Terms>;
}

/**
 * Makes the pace. `timeout_ms`: the time limit that the operator set, which is kept; null: none. Without one and under
 * `auto`, a model that needs more than a third of the default limit for a warm call is taken for a local one.
 */
export function makePace(options: {
  preset: Preset;
  timeout_ms: number | null;
  probing: Pick<Probing, 'first' | 'warmMs'>;
  wait: (wait_ms: number) => Promise<void>;
}): Pace {
  const { preset, probing, wait } = options;
  const usual_ms = options.timeout_ms ?? DEFAULT_TIMEOUT_MS;
  const within = (ms: number) => Math.min(MAX_TIMEOUT_MS, Math.max(usual_ms, ms));
  const hosted: Terms = { timeout_ms: usual_ms, wait_ms: usual_ms, may_repeat: true, one_at_a_time: false };
  const local: Terms = { ...hosted, may_repeat: false, one_at_a_time: true };

  function isLocal(): boolean {
    if (preset !== 'auto') return preset === 'local';
    const warm_ms = probing.warmMs();
    return options.timeout_ms === null && warm_ms !== null && warm_ms * PATIENCE > DEFAULT_TIMEOUT_MS;
  }

  function patient(): Terms {
    const warm_ms = probing.warmMs() ?? MAX_TIMEOUT_MS;
    const timeout_ms = options.timeout_ms ?? within(warm_ms * PATIENCE);
    return { ...local, timeout_ms, wait_ms: Math.max(timeout_ms, within(warm_ms * TURNS)) };
  }

  return {
    isLocal,
    termsOf(is_review_anyway) {
      if (!isLocal()) return hosted;
      if (!is_review_anyway) return local;
      if (probing.warmMs() !== null) return patient();
      return Promise.race([probing.first, wait(MAX_TIMEOUT_MS)]).then(patient);
    },
  };
}
