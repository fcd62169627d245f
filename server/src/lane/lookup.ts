/** Names one agent's counter of one month and currency. */
export const budgetKey = (agent_id: string, period: string, currency: string) =>
  `${agent_id} ${period} ${currency}`;
/** Names one agent's idempotency key. */
export const idempotencyKey = (agent_id: string, key: string) => `${agent_id} ${key}`;

/** Adds a value to the list of that name. */
export function pushTo<T>(lists: Map<string, T[]>, name: string, value: T): void {
  const list = lists.get(name);
  if (list === undefined) lists.set(name, [value]);
  else list.push(value);
}
