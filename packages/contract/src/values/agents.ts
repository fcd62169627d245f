export const MODES = ['SHADOW', 'ENFORCE'] as const;
export const AGENT_STATUSES = ['active', 'paused', 'revoked'] as const;
