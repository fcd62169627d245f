import { GatewayError } from '../errors.ts';
import type { Provider } from '../prices/price-table.ts';

/** The four shapes of calls that cost money. */
export type Shape = 'chat' | 'responses' | 'embeddings' | 'messages';

export interface CallRoute {
  path: string;
  provider: Provider;
  shape: Shape;
  /** Members that limit the output; the first is set where none of them is there. */
  limits: readonly string[];
}

export const CALL_ROUTES: readonly CallRoute[] = [
  {
    path: '/v1/chat/completions',
    provider: 'openai',
    shape: 'chat',
    limits: ['max_completion_tokens', 'max_tokens'],
  },
  { path: '/v1/responses', provider: 'openai', shape: 'responses', limits: ['max_output_tokens'] },
  { path: '/v1/embeddings', provider: 'openai', shape: 'embeddings', limits: [] },
  { path: '/v1/messages', provider: 'anthropic', shape: 'messages', limits: ['max_tokens'] },
];

/** A call that is refused before anything is reserved. `param` names the field at fault. */
export class Refused extends GatewayError {
  override name = 'Refused';

  constructor(
    code: 'invalid_request' | 'unbounded_request' | 'price_unknown',
    message: string,
    param: string | null = null,
  ) {
    super(code, message, { param });
  }
}
