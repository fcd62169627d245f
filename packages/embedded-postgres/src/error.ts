/** The embedded PostgreSQL cannot be used. The message says what is wrong and what the operator can do. */
export class EmbeddedPostgresError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'EmbeddedPostgresError';
  }
}
