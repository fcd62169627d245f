import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { AgentName } from './names/AgentName.tsx';
import { Tabs } from './Page.tsx';

/** The screens of an agent. `full` tells a link apart from one of the main navigation. */
const SCREENS = [
  { key: 'agent', name: 'Summary', tail: '' },
  { key: 'authority', name: 'Policy', tail: '/authority' },
  { key: 'merchants', name: 'Merchants', tail: '/merchants' },
  { key: 'answers', name: 'Answers', tail: '/answers' },
  { key: 'decisions', name: 'Decisions', tail: '/decisions' },
  { key: 'keys', name: 'Keys', tail: '/keys' },
  { key: 'report', name: 'Report', tail: '/report' },
] as const;

/** Links between an agent's screens. The link names include the agent, unlike those of the main navigation. */
export function AgentTabs({ slug, at }: { slug: string; at: (typeof SCREENS)[number]['key'] }) {
  return (
    <Tabs label="This agent">
      {SCREENS.map(({ key, name, tail }) => (
        <Link
          key={key}
          to={`/agents/${slug}${tail}`}
          aria-label={`${name} of ${slug}`}
          aria-current={key === at ? 'page' : undefined}
          activeOptions={{ exact: true }}
        >
          {name}
        </Link>
      ))}
    </Tabs>
  );
}

/** Placement of a screen: at its own URL, or below one agent and limited to it. */
export interface Place {
  /** The path that filters and views keep. */
  path: string;
  /** Query parameters set by the path: the agent, which is then not a filter. */
  fixed: { agent?: string };
  above: ReactNode;
  tabs: ReactNode;
}

/** The placement of a screen that exists for the workspace and for each agent. */
export function usePlace(at: 'decisions' | 'keys' | 'report'): Place {
  const { slug } = useParams({ strict: false }) as { slug?: string };
  if (slug === undefined) return { path: `/${at}`, fixed: {}, above: undefined, tabs: null };
  return {
    path: `/agents/${slug}/${at}`,
    fixed: { agent: slug },
    above: (
      <Link to={`/agents/${slug}`}>
        ← <AgentName of={{ slug }} />
      </Link>
    ),
    tabs: <AgentTabs slug={slug} at={at} />,
  };
}
