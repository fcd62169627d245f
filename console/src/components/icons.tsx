/** Icons of the navigation on a grid of 16. They only repeat the words beside them. */
const PATHS = {
  inbox: 'M2.5 9.5 4.3 3h7.4l1.8 6.5v3.5h-11zM2.5 9.5h3.2l1 1.8h2.6l1-1.8h3.2',
  overview: 'M2.5 13.5v-5M6.2 13.5v-11M9.8 13.5v-7M13.5 13.5v-9',
  decisions: 'M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01',
  agents: 'M3.5 5.5h9v7h-9zM8 5.5v-3M6 8.5v1.2M10 8.5v1.2M1.5 8v2.5M14.5 8v2.5',
  budgets: 'M2.5 4.5h11v8h-11zM2.5 7h11M10.5 9.8h1',
  allowances: 'M2.5 8a5.500 5.500 0 1 0 11 0 5.500 5.500 0 1 0-11 0M8 2.500V8l4 3.700',
  report: 'M3.5 2.5h6l3 3v8h-9zM6 8.5l1.5 1.5L10.2 7',
  history: 'M3.5 2.500h9v11l-2.200-1.500L8 13.500l-2.300-1.500-2.200 1.500zM6 5.500h4M6 8h4',
  coverage: 'M8 2.5a5.5 5.5 0 1 0 5.5 5.5H8zM10.500 2.800a5.500 5.500 0 0 1 2.700 2.700',
  notifications: 'M4 11.5h8M5 11.5V7a3 3 0 0 1 6 0v4.5M8 2.5V4M7 13.5h2',
  webhooks: 'M6.2 6.8a2.4 2.4 0 1 1 3.6 0L12 11M4.2 9.2A2.4 2.4 0 1 0 7 12h4M6.2 6.8 4.6 9.6',
  ledger: 'M3.5 2.5h9v11h-9zM6 5.5h4M6 8h4M6 10.5h2.5',
  audit: 'M8 2.5a5.5 5.5 0 1 1-5.2 3.7M8 5v3.2l2.2 1.3M2.5 3v3.2h3.2',
  keys: 'M9.7 9.2a3.1 3.1 0 1 0-2.8-2.8L2.5 10.8v2.7h2.7v-1.6h1.6v-1.6z',
  team: 'M6 7.5a2.3 2.3 0 1 0 0-4.6 2.3 2.3 0 0 0 0 4.6zM1.8 13.2c.3-2.3 2-3.6 4.2-3.6s3.900 1.300 4.200 3.600M10.500 3.200a2.100 2.100 0 0 1 0 4.100M12 9.900c1.300.500 2.100 1.600 2.300 3.300',
  policy:
    'M8 2.5 13 4.500v3.700c0 2.600-2 4.500-5 5.300-3-.800-5-2.700-5-5.300V4.500zM5.800 8l1.600 1.600L10.400 6.500',
  settings: 'M2.500 4.500h6M11.500 4.500h2M2.500 11.500h2M7.500 11.500h6M10 3v3M6 10v3',
} as const;

export type IconName = keyof typeof PATHS;

/** One of them. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
