/**
 * Lists the URLs of the console's pages. A page's code is loaded when the page is first opened. A page reads its URL
 * with `useParams` and `useSearch`, and code in the page's folder checks the query, so no page imports this file.
 */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet } from '@tanstack/react-router'
import { readSearch, writeSearch } from '../data/search.ts'
import { buildRoutes } from './build-routes.ts'
import { Frame } from './frame.tsx'
import { EntryFailed, EntryPending, NotFound, PageFailed, PagePending } from './route-states.tsx'
import { SignInPage } from './sign-in-page.tsx'

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound, errorComponent: EntryFailed })
const login = createRoute({ getParentRoute: () => root, path: '/login', component: SignInPage })
const entry = { getParentRoute: () => root, pendingComponent: EntryPending, errorComponent: EntryFailed }
const entries = [
  createRoute({
    ...entry,
    path: '/invite',
    component: lazyRouteComponent(() => import('./invite-page.tsx'), 'InvitePage'),
  }),
  createRoute({
    ...entry,
    path: '/reset',
    component: lazyRouteComponent(() => import('./reset-page.tsx'), 'ResetPage'),
  }),
  createRoute({
    ...entry,
    path: '/forgot',
    component: lazyRouteComponent(() => import('./forgot-page.tsx'), 'ForgotPage'),
  }),
]
/** All pages for signed-in people are inside the frame. */
const frame = createRoute({ getParentRoute: () => root, id: 'frame', component: Frame })

const pages = [
  createRoute({
    getParentRoute: () => frame,
    path: '/',
    component: lazyRouteComponent(() => import('../pages/overview/overview-page.tsx'), 'OverviewPage'),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: '/calls',
    component: lazyRouteComponent(() => import('../pages/calls/calls-page.tsx'), 'CallsPage'),
  }),
  createRoute({
    getParentRoute: () => frame,
    path: '/calls/$id',
    component: lazyRouteComponent(() => import('../pages/call/call-page.tsx'), 'CallPage'),
  }),
  ...buildRoutes.map(({ path, component }) => createRoute({ getParentRoute: () => frame, path, component })),
]

export const router = createRouter({
  routeTree: root.addChildren([login, ...entries, frame.addChildren(pages)]),
  basepath: '/console',
  parseSearch: readSearch,
  stringifySearch: writeSearch,
  defaultPendingComponent: PagePending,
  defaultErrorComponent: PageFailed,
  defaultNotFoundComponent: NotFound,
  defaultPreload: 'intent',
  scrollRestoration: true,
})
