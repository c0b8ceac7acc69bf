/** Lists the URLs of the pages for agents, numbers, conversations, webhooks, usage and settings. */
import { lazyRouteComponent, type RouteComponent } from '@tanstack/react-router'

export const buildRoutes: readonly { path: string; component: RouteComponent }[] = [
  {
    path: '/agents',
    component: lazyRouteComponent(() => import('../pages/agents/agents-page.tsx'), 'AgentsPage'),
  },
  {
    path: '/agents/new',
    component: lazyRouteComponent(() => import('../pages/agent/new-agent-page.tsx'), 'NewAgentPage'),
  },
  {
    path: '/agents/$id',
    component: lazyRouteComponent(() => import('../pages/agent/agent-page.tsx'), 'AgentPage'),
  },
  {
    path: '/numbers',
    component: lazyRouteComponent(() => import('../pages/numbers/numbers-page.tsx'), 'NumbersPage'),
  },
  {
    path: '/numbers/buy',
    component: lazyRouteComponent(() => import('../pages/numbers/buy-page.tsx'), 'BuyPage'),
  },
  {
    path: '/numbers/verification',
    component: lazyRouteComponent(() => import('../pages/verification/verification-page.tsx'), 'VerificationPage'),
  },
  {
    path: '/webhooks',
    component: lazyRouteComponent(() => import('../pages/webhooks/webhooks-page.tsx'), 'WebhooksPage'),
  },
  {
    path: '/webhooks/new',
    component: lazyRouteComponent(() => import('../pages/webhook/new-webhook-page.tsx'), 'NewWebhookPage'),
  },
  {
    path: '/webhooks/$id',
    component: lazyRouteComponent(() => import('../pages/webhook/webhook-page.tsx'), 'WebhookPage'),
  },
  {
    path: '/deliveries',
    component: lazyRouteComponent(() => import('../pages/deliveries/deliveries-page.tsx'), 'DeliveriesPage'),
  },
  {
    path: '/deliveries/$id',
    component: lazyRouteComponent(() => import('../pages/delivery/delivery-page.tsx'), 'DeliveryPage'),
  },
  {
    path: '/usage',
    component: lazyRouteComponent(() => import('../pages/usage/usage-page.tsx'), 'UsagePage'),
  },
  {
    path: '/keys',
    component: lazyRouteComponent(() => import('../pages/keys/keys-page.tsx'), 'KeysPage'),
  },
  {
    path: '/members',
    component: lazyRouteComponent(() => import('../pages/members/members-page.tsx'), 'MembersPage'),
  },
  {
    path: '/numbers/sip',
    component: lazyRouteComponent(() => import('../pages/sip/sip-page.tsx'), 'SipPage'),
  },
  {
    path: '/conversations',
    component: lazyRouteComponent(() => import('../pages/conversations/conversations-page.tsx'), 'ConversationsPage'),
  },
  {
    path: '/conversations/$id',
    component: lazyRouteComponent(() => import('../pages/conversations/conversations-page.tsx'), 'ConversationsPage'),
  },
  {
    path: '/callbacks',
    component: lazyRouteComponent(() => import('../pages/callbacks/callbacks-page.tsx'), 'CallbacksPage'),
  },
  {
    path: '/providers',
    component: lazyRouteComponent(() => import('../pages/providers/providers-page.tsx'), 'ProvidersPage'),
  },
  {
    path: '/routing',
    component: lazyRouteComponent(() => import('../pages/routing/routing-page.tsx'), 'RoutingPage'),
  },
  {
    path: '/sms',
    component: lazyRouteComponent(() => import('../pages/sms/sms-page.tsx'), 'SmsPage'),
  },
  {
    path: '/audit',
    component: lazyRouteComponent(() => import('../pages/audit/audit-page.tsx'), 'AuditPage'),
  },
  {
    path: '/settings',
    component: lazyRouteComponent(() => import('../pages/settings/settings-page.tsx'), 'SettingsPage'),
  },
  {
    path: '/account',
    component: lazyRouteComponent(() => import('../pages/account/account-page.tsx'), 'AccountPage'),
  },
]
