export const KEY_KINDS = ['agent', 'admin', 'reviewer', 'read_only', 'payment_adapter', 'custom'] as const;
export const KEY_STATUSES = ['active', 'expired', 'revoked'] as const;
