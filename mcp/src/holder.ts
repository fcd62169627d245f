/** Who holds the key, as `GET /v1/api-keys/current` tells it. */
export interface KeyHolder {
  scopes: readonly string[];
  /** The one agent that the key is bound to, or null. */
  agent_id: string | null;
}

/** What a key is offered. */
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
 * What a key is offered, or why it is not served at all. A key that may change the rules or make payments is refused:
 * it must not be where a model is. Who may ask for spends is offered no reviews, since nobody reviews their own.
 */
export function offersOf({ scopes, agent_id }: KeyHolder): Offers | { refusal: string } {
  if (scopes.includes('admin'))
    return { refusal: 'An admin key must not be given to a model: make an agent key, or a reviewer key.' };
  if (scopes.includes('consume'))
    return { refusal: "A payment adapter's key must not be given to a model: make an agent key." };
  const asks = scopes.includes('authorize');
  if (asks && agent_id === null)
    return { refusal: 'This key is bound to no agent: make an agent key, which says who asks.' };
  const read = asks || scopes.includes('read');
  const review = scopes.includes('review') && !asks;
  if (!read && !review) return { refusal: 'This key has none of the scopes authorize, read and review.' };
  return { agent: asks, read, review, list_reviews: review && scopes.includes('read') };
}
