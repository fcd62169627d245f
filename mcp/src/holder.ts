/** The holder of the key, from `GET /v1/api-keys/current`. */
export interface KeyHolder {
  scopes: readonly string[];
  /** The one agent that the key is bound to, or null. */
  agent_id: string | null;
}

/** The tools offered to a key. */
export interface Offers {
  /** To ask for spends as the agent, and to report on them. */
  agent: boolean;
  /** To look at single spends. */
  read: boolean;
  /** To list what waits for a person. */
  list_reviews: boolean;
  review: boolean;
}

/**
 * Returns the tools for a key, or the reason to refuse it. Keys that change rules or make payments are refused,
 * because a model must not hold them. A key that requests spends gets no review tools, since nobody reviews their own
 * requests.
 */
export function offersOf({ scopes, agent_id }: KeyHolder): Offers | { refusal: string } {
  if (scopes.includes('admin'))
    return { refusal: 'An admin key must not be given to a model: create an agent key or a reviewer key.' };
  if (scopes.includes('consume'))
    return { refusal: "A payment adapter's key must not be given to a model: create an agent key." };
  const asks = scopes.includes('authorize');
  if (asks && agent_id === null)
    return { refusal: 'This key is not bound to an agent: create an agent key, which identifies the agent.' };
  const read = asks || scopes.includes('read');
  const review = scopes.includes('review') && !asks;
  if (!read && !review) return { refusal: 'This key has none of the scopes authorize, read and review.' };
  return { agent: asks, read, review, list_reviews: review && scopes.includes('read') };
}
