/** One step of an agent's run, as the agent describes it. Untrusted. */
export interface TraceStep {
  step: string;
  kind?: string;
  tool?: string;
  /** RFC 3339 timestamp. */
  at?: string;
}

/** The spend an agent proposes. `merchant`, `payee_id`, `amount_minor` and `currency` say what would be paid. */
export interface Action {
  type: string;
  merchant: string;
  amount_minor: number;
  currency: string;
  description?: string;
  /** `<rail>:<id>`. */
  payee_id?: string;
  /** An untrusted claim. */
  category?: string;
}

/** The body of `POST /v1/decisions` after validation and text normalisation. Everything in it is untrusted. */
export interface SpendRequest {
  action: Action;
  task?: string;
  trace?: TraceStep[];
  limitable?: boolean;
  min_amount_minor?: number;
  agent?: string;
  context?: Record<string, unknown>;
}
