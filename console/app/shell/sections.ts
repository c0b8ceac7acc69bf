/** Lists the pages in the navigation, in their order. `keys` opens a page from every other page. */
import {
  Bot,
  ChartColumn,
  Hash,
  HomeIcon,
  KeyRound,
  type LucideIcon,
  MessageSquareText,
  MessagesSquare,
  PhoneCall,
  PhoneForwarded,
  Plug,
  ScrollText,
  Send,
  Settings,
  Users,
  Waypoints,
  Webhook,
} from 'lucide-react'

export type Section = { to: string; label: string; icon: LucideIcon; keys: string }

export const groups: readonly { name: string | null; sections: readonly Section[] }[] = [
  {
    name: null,
    sections: [
      { to: '/', label: 'Overview', icon: HomeIcon, keys: 'g o' },
      { to: '/calls', label: 'Calls', icon: PhoneCall, keys: 'g c' },
      { to: '/conversations', label: 'Conversations', icon: MessagesSquare, keys: 'g v' },
    ],
  },
  {
    name: 'Build',
    sections: [
      { to: '/agents', label: 'Agents', icon: Bot, keys: 'g a' },
      { to: '/numbers', label: 'Phone numbers', icon: Hash, keys: 'g n' },
      { to: '/sms', label: 'Text messages', icon: MessageSquareText, keys: 'g t' },
      { to: '/providers', label: 'Providers', icon: Plug, keys: 'g p' },
      { to: '/routing', label: 'Routing', icon: Waypoints, keys: 'g r' },
    ],
  },
  {
    name: 'Run',
    sections: [
      { to: '/callbacks', label: 'Callbacks', icon: PhoneForwarded, keys: 'g b' },
      { to: '/webhooks', label: 'Webhooks', icon: Webhook, keys: 'g w' },
      { to: '/deliveries', label: 'Deliveries', icon: Send, keys: 'g d' },
      { to: '/usage', label: 'Usage', icon: ChartColumn, keys: 'g u' },
    ],
  },
  {
    name: 'Organization',
    sections: [
      { to: '/keys', label: 'API keys', icon: KeyRound, keys: 'g k' },
      { to: '/members', label: 'Members', icon: Users, keys: 'g m' },
      { to: '/audit', label: 'Audit log', icon: ScrollText, keys: 'g l' },
      { to: '/settings', label: 'Settings', icon: Settings, keys: 'g s' },
    ],
  },
]
