import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Tabs } from './Page.tsx';

/** An agent's screens, below its address. A new screen is a line. */
const SCREENS = [
  { key: 'agent', name: 'Summary', tail: '' },
  { key: 'authority', name: 'Authority', tail: '/authority' },
  { key: 'merchants', name: 'Merchants', tail: '/merchants' },
  { key: 'decisions', name: 'Its decisions', tail: '/decisions' },
  { key: 'keys', name: 'Its keys', tail: '/keys' },
  { key: 'report', name: 'Its report', tail: '/report' },
] as const;

/** Leads from each of an agent's screens to the others. */
export function AgentTabs({ slug, at }: { slug: string; at: (typeof SCREENS)[number]['key'] }) {
  return (
    <Tabs label="Of this agent">
      {SCREENS.map(({ key, name, tail }) => (
        <Link
          key={key}
          to={`/agents/${slug}${tail}`}
          aria-current={key === at ? 'page' : undefined}
          activeOptions={{ exact: true }}
        >
          {name}
        </Link>
      ))}
    </Tabs>
  );
}

/** Where a screen of the workspace is shown: at its own address, or among one agent's screens and narrowed to it. */
export interface Place {
  /** The path that its filters and views stay at. */
  path: string;
  /** What the address alone asks for: the agent, which is then no filter. */
  fixed: { agent?: string };
  above: ReactNode;
  tabs: ReactNode;
}

/** The place of a screen that agents have too. */
export function usePlace(at: 'decisions' | 'keys' | 'report'): Place {
  const { slug } = useParams({ strict: false }) as { slug?: string };
  if (slug === undefined) return { path: `/${at}`, fixed: {}, above: undefined, tabs: null };
  return {
    path: `/agents/${slug}/${at}`,
    fixed: { agent: slug },
    above: <Link to={`/agents/${slug}`}>← {slug}</Link>,
    tabs: <AgentTabs slug={slug} at={at} />,
  };
}
