/*
 * A function has no branches, so that the golden file `server/cases/sentences.yaml` has a row for each thing that an
 * assessment says about a model. The built-in assessment's own sentence comes with it.
 */

/** All that an assessment says about a model's opinion. */
export const OPINION = {
  agrees: (model: string) => `The model ${model} agrees.`,
  lowers: (model: string, word: string, rationale: string, built_in: string) =>
    `The model ${model} calls it ${word}: "${rationale}" The built-in assessor called it ${built_in}:`,
  clears_unclear: (model: string, rationale: string) =>
    `The model ${model} calls it aligned, which the operator allows to count: "${rationale}" The built-in assessor found it unclear:`,
  clears_misaligned: (model: string, rationale: string) =>
    `The model ${model} calls it aligned, which the operator allows to count: "${rationale}" The built-in assessor called it misaligned:`,
  not_raised: (model: string, word: string) =>
    `The model ${model} calls it ${word}, which does not raise the assessment.`,
  doubts: (model: string, rationale: string) => `The model ${model} doubts this: "${rationale}"`,
  settled: (by: string, day: string) => `This does not count: ${by} approved it on ${day}.`,
  required: () => 'The installation requires one, so the purpose counts as unclear.',
};

const none = (why: string) => () => `No second opinion: ${why}.`;

/** Reasons for a missing opinion. */
export const NO_OPINION = {
  timeout: none('the model did not respond in time'),
  unreachable: none('the model was unreachable'),
  http_error: none('the model responded with an error'),
  too_large: none('the model responded with too much text'),
  not_understood: none('the model responded in the wrong form'),
  busy: none('the model was busy with other spends'),
  rate_limited: none('the model asked for a pause'),
  daily_limit: none('the workspace has used its daily limit'),
  rules_only: none('the policy uses only the rules'),
  not_configured: none('the installation has no model'),
  circuit_open: none('the model failed recently and calls are paused'),
  stopping: none('the service was stopping'),
};
