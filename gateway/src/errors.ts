import type { Provider } from './prices/price-table.ts';

/** An answer of the gateway's own. */
interface ErrorRow {
  openai: [status: number, type: string];
  anthropic: [status: number, type: string];
  /** True if the same call may succeed soon. */
  retry: boolean;
}

const ROWS = {
  invalid_api_key: {
    openai: [401, 'authentication_error'],
    anthropic: [401, 'authentication_error'],
    retry: false,
  },
  agent_key_required: {
    openai: [403, 'permission_error'],
    anthropic: [403, 'permission_error'],
    retry: false,
  },
  agent_not_active: { openai: [403, 'permission_error'], anthropic: [403, 'permission_error'], retry: false },
  model_not_allowed: {
    openai: [403, 'permission_error'],
    anthropic: [403, 'permission_error'],
    retry: false,
  },
  insufficient_quota: {
    openai: [429, 'insufficient_quota'],
    anthropic: [402, 'billing_error'],
    retry: false,
  },
  review_pending: { openai: [429, 'insufficient_quota'], anthropic: [402, 'billing_error'], retry: false },
  budget_in_use: { openai: [429, 'rate_limit_error'], anthropic: [429, 'rate_limit_error'], retry: true },
  price_unknown: {
    openai: [400, 'invalid_request_error'],
    anthropic: [400, 'invalid_request_error'],
    retry: false,
  },
  unbounded_request: {
    openai: [400, 'invalid_request_error'],
    anthropic: [400, 'invalid_request_error'],
    retry: false,
  },
  invalid_request: {
    openai: [400, 'invalid_request_error'],
    anthropic: [400, 'invalid_request_error'],
    retry: false,
  },
  request_too_large: {
    openai: [413, 'invalid_request_error'],
    anthropic: [413, 'request_too_large'],
    retry: false,
  },
  not_found: { openai: [404, 'invalid_request_error'], anthropic: [404, 'not_found_error'], retry: false },
  purser_unavailable: { openai: [503, 'api_error'], anthropic: [503, 'api_error'], retry: true },
  upstream_unavailable: { openai: [502, 'api_error'], anthropic: [502, 'api_error'], retry: true },
} as const satisfies Record<string, ErrorRow>;

export type GatewayErrorCode = keyof typeof ROWS;

/** The gateway refuses a call or cannot make it. The message is for the agent and names no limit. */
export class GatewayError extends Error {
  override name = 'GatewayError';
  readonly code: GatewayErrorCode;
  /** The field at fault. */
  readonly param: string | null;
  /** The decision's `reason_code`, or the code. */
  readonly reason: string;

  constructor(
    code: GatewayErrorCode,
    message: string,
    more: { param?: string | null; reason?: string | undefined } = {},
  ) {
    super(message);
    this.code = code;
    this.param = more.param ?? null;
    this.reason = more.reason ?? code;
  }
}

/** The agent is paused or stopped. */
export const notActive = (): GatewayError =>
  new GatewayError('agent_not_active', 'This agent may not spend right now: it is paused or stopped.');

/** The provider with this name gave no answer. */
export const unreachable = (name: string): GatewayError =>
  new GatewayError('upstream_unavailable', `${name} cannot be reached right now. Try again.`);

/** The error as the provider would put it: status, headers and body. */
export function errorAnswer(
  error: GatewayError,
  provider: Provider,
): { status: number; headers: Record<string, string>; body: string } {
  const { retry, ...row }: ErrorRow = ROWS[error.code];
  const [status, type] = row[provider];
  const { message, code, param } = error;
  const body =
    provider === 'openai'
      ? { error: { message, type, param, code } }
      : { type: 'error', error: { type, message } };
  return {
    status,
    headers: {
      'content-type': 'application/json',
      'x-purser-reason': error.reason,
      'x-should-retry': String(retry),
      ...(retry && status === 429 ? { 'retry-after': '1' } : {}),
    },
    body: JSON.stringify(body),
  };
}
