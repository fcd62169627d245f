/** A stage of a decision. */
interface StageRow {
  /** Its heading in the console. */
  label: string;
  /** Every decision's `policy_trace` has it. The others are there only where the authority has something for them to judge. */
  in_every_trace: boolean;
}

const stage = (label: string, in_every_trace: boolean): StageRow => ({ label, in_every_trace });

/** The stages of a decision, in the order in which they are evaluated. The order is public. */
export const STAGE_ROWS = {
  authority: stage('Policy', true),
  validity: stage('Validity', false),
  currency: stage('Currency', true),
  action_type: stage('Action type', false),
  merchant: stage('Merchant', true),
  merchant_allowlist: stage('Allowed merchants', false),
  active_hours: stage('Active hours', false),
  duplicate: stage('Duplicates', false),
  per_transaction_limit: stage('Per-transaction limit', true),
  velocity: stage('Velocity limits', false),
  monthly_budget: stage('Monthly budget', true),
  shared_budget: stage('Shared budgets', false),
  allowance: stage('Allowance', false),
  min_amount: stage('Minimum amount', true),
  purpose: stage('Purpose', true),
  new_merchant: stage('New merchants', false),
  review_threshold: stage('Review threshold', true),
};
export type Stage = keyof typeof STAGE_ROWS;
export const STAGES = Object.keys(STAGE_ROWS) as Stage[];
/** The stages that every `policy_trace` has. */
export const CONTRACT_STAGES = STAGES.filter((name) => STAGE_ROWS[name].in_every_trace);
