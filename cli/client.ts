import { createRouterClient, RouterApiError, type RouterClient } from '../generated/clients/router.ts'
import { CommandError, type Connection } from './actions.ts'

/** The router surface, as every user's program sees it. Throws CommandError where there is no key to use. */
export function routerClient({ baseUrl, apiKey }: Connection): RouterClient {
  if (apiKey === null)
    throw new CommandError(
      'no key: set PARLEY_API_KEY, or run this in the folder of a running Parley (its data folder holds a local key)',
    )
  return createRouterClient({ baseUrl: `${baseUrl}/router`, apiKey })
}

/** What to print for an error of a command: the server's own words, what to do, and the id to look it up by. */
export function explain(error: unknown): string {
  if (error instanceof RouterApiError && error.envelope) {
    const { code, message, hint, param, request_id } = error.envelope.error
    return `${code}${param ? ` at ${param}` : ''}: ${message}\n${hint}\nrequest ${request_id}`
  }
  if (!(error instanceof Error)) return String(error)
  const code = (error.cause as { code?: string } | undefined)?.code
  if (code === 'ECONNREFUSED') return 'no Parley answers there; start one with `make run`, or set PARLEY_URL'
  return error.message
}
