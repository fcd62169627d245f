import { useQuery } from '@tanstack/react-query';
import { purser } from './client.ts';

/** A workspace has at most 20 endpoints. */
const MAX_ENDPOINTS = 20;

/** The workspace's webhook endpoints. Administrators only. */
export function useEndpoints(options: { enabled?: boolean } = {}) {
  return useQuery({
    queryKey: ['webhooks', 'endpoints'],
    queryFn: async () => (await purser.webhookEndpoints.list({ limit: MAX_ENDPOINTS })).data,
    ...options,
  });
}
