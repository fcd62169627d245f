/** The largest amount in minor units: the largest integer that a JSON number carries exactly. */
export const MAX_AMOUNT_MINOR = 9_007_199_254_740_991;

/** The maximum lengths of texts, in Unicode code points after trimming. */
export const TEXT_LENGTHS = {
  name: 64,
  merchant: 200,
  description: 2_000,
  comment: 2_000,
  task: 4_000,
} as const;
