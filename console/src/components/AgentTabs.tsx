import { Link } from '@tanstack/react-router';
import { Tabs } from './Page.tsx';

/** An agent's screens: its own below its address, and those of the workspace narrowed to it. A new screen is a line. */
const SCREENS = [
  { key: 'agent', name: 'Summary', to: (slug: string) => `/agents/${slug}` },
  { key: 'authority', name: 'Authority', to: (slug: string) => `/agents/${slug}/authority` },
  { key: 'merchants', name: 'Merchants', to: (slug: string) => `/agents/${slug}/merchants` },
  { key: 'decisions', name: 'Its decisions', to: () => '/decisions' },
  { key: 'keys', name: 'Its keys', to: () => '/keys' },
  { key: 'report', name: 'Its report', to: () => '/report' },
] as const;

/** Leads from each of an agent's screens to the others. */
export function AgentTabs({ slug, at }: { slug: string; at: (typeof SCREENS)[number]['key'] }) {
  return (
    <Tabs label="Of this agent">
      {SCREENS.map(({ key, name, to }) => (
        <Link
          key={key}
          to={to(slug)}
          search={to(slug).startsWith('/agents/') ? {} : { agent: slug }}
          aria-current={key === at ? 'page' : undefined}
          activeOptions={{ exact: true, includeSearch: true }}
        >
          {name}
        </Link>
      ))}
    </Tabs>
  );
}
