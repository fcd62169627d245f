import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { isMember, meQuery, queryClient, workspaceQuery } from './api/queries.ts';
import { NotFound, ScreenError } from './components/Failure.tsx';
import { Loading } from './components/Page.tsx';
import { SignedInLayout } from './components/SignedInLayout.tsx';
import { parseSearch, type Search, stringifySearch } from './lib/search.ts';

type Screen = () => Promise<{ default: () => React.ReactNode }>;

const root = createRootRoute({ component: Outlet, validateSearch: (search): Search => search as Search });

/** Screens without sign-in. */
const OPEN: Record<string, Screen> = {
  '/sign-in': () => import('./screens/sign-in/SignIn.tsx'),
  '/signed-in': () => import('./screens/sign-in/SignedIn.tsx'),
  '/setup': () => import('./screens/sign-in/SetUp.tsx'),
  '/invitation': () => import('./screens/sign-in/Invitation.tsx'),
  '/reset': () => import('./screens/sign-in/Reset.tsx'),
};

/** Screens within the shell, by path. */
const SCREENS: Record<string, Screen> = {
  '/': () => import('./screens/overview/Overview.tsx'),
  '/agents': () => import('./screens/agents/Agents.tsx'),
  '/new-agent': () => import('./screens/authority/new-agent/NewAgent.tsx'),
  '/agents/$slug': () => import('./screens/agent/AgentPage.tsx'),
  '/agents/$slug/authority': () => import('./screens/authority/AuthorityEditor.tsx'),
  '/agents/$slug/merchants': () => import('./screens/merchants/Merchants.tsx'),
  '/agents/$slug/answers': () => import('./screens/answers/Answers.tsx'),
  '/agents/$slug/decisions': () => import('./screens/decisions/Decisions.tsx'),
  '/agents/$slug/keys': () => import('./screens/keys/Keys.tsx'),
  '/agents/$slug/report': () => import('./screens/report/Report.tsx'),
  '/decisions': () => import('./screens/decisions/Decisions.tsx'),
  '/decisions/$id': () => import('./screens/decision/DecisionPage.tsx'),
  '/budgets': () => import('./screens/budgets/Budgets.tsx'),
  '/allowances': () => import('./screens/allowances/Allowances.tsx'),
  '/allowances/$id': () => import('./screens/allowances/AllowancePage.tsx'),
  '/report': () => import('./screens/report/Report.tsx'),
  '/history': () => import('./screens/history/History.tsx'),
  '/coverage': () => import('./screens/history/Coverage.tsx'),
  '/rails': () => import('./screens/rails/Rails.tsx'),
  '/history/report': () => import('./screens/history/HistoryReport.tsx'),
  '/reviews': () => import('./screens/inbox/Inbox.tsx'),
  '/review-policy': () => import('./screens/review-policy/ReviewPolicy.tsx'),
  '/keys': () => import('./screens/keys/Keys.tsx'),
  '/webhooks': () => import('./screens/webhooks/Webhooks.tsx'),
  '/webhooks/$id': () => import('./screens/webhook/WebhookPage.tsx'),
  '/webhooks/attempts/$id': () => import('./screens/webhook/AttemptPage.tsx'),
  '/webhooks/events/$id': () => import('./screens/webhook/EventPage.tsx'),
  '/notifications': () => import('./screens/notifications/Notifications.tsx'),
  '/ledger': () => import('./screens/ledger/Ledger.tsx'),
  '/ledger/$seq': () => import('./screens/ledger/EntryPage.tsx'),
  '/audit': () => import('./screens/audit/Audit.tsx'),
  '/team': () => import('./screens/team/Team.tsx'),
  '/settings': () => import('./screens/settings/Settings.tsx'),
  '/me': () => import('./screens/me/Me.tsx'),
  '/me/slack': () => import('./screens/me/LinkSlack.tsx'),
};

const open = Object.entries(OPEN).map(([path, load]) =>
  createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(load) }),
);

const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  component: SignedInLayout,
  async beforeLoad({ location }) {
    const me = await queryClient.ensureQueryData(meQuery);
    if (me !== null) {
      // Its banners are there from the first frame, so that they push nothing down. A failure is shown by the screens.
      if (isMember(me)) await queryClient.ensureQueryData(workspaceQuery).catch(() => {});
      return;
    }
    queryClient.removeQueries(meQuery);
    throw redirect({
      href: `/sign-in${location.href === '/' ? '' : `?next=${encodeURIComponent(location.href)}`}`,
    });
  },
});

const screens = Object.entries(SCREENS).map(([path, load]) =>
  createRoute({ getParentRoute: () => inside, path, component: lazyRouteComponent(load) }),
);

/** Any other address: a member sees that it has no page, with the navigation beside it. */
const unknown = createRoute({ getParentRoute: () => inside, path: '$', component: NotFound });

export const router = createRouter({
  routeTree: root.addChildren([...open, inside.addChildren([...screens, unknown])]),
  basepath: '/console',
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  defaultPendingComponent: () => <Loading />,
  defaultErrorComponent: ScreenError,
  defaultNotFoundComponent: NotFound,
  scrollRestoration: true,
});
