/** A JSON object of unknown members. */
export type Fields = Readonly<Record<string, unknown>>;

/** Tells whether a JSON value is an object, and no list. */
export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
