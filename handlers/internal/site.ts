/** Serves the files that browsers and search engines request from every site. */
import type { InternalHandlers } from '../../generated/internal/handlers.ts'

const headers = { 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' } as const

const icon = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#0b6b5d"/>' +
    '<path d="M4 6.5v3M8 4v8M12 6.5v3" stroke="#fff" stroke-width="2" stroke-linecap="round"/></svg>',
)
const robots = Buffer.from('User-agent: *\nDisallow: /\n')

export const siteHandlers: Pick<InternalHandlers<null>, 'getIcon' | 'getRobots'> = {
  getIcon: () => ({ status: 200, headers, body: icon }),
  getRobots: () => ({ status: 200, headers, body: robots }),
}
