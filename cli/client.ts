import { CompatApiError, type CompatClient, createCompatClient } from '../generated/clients/compat.ts'
import { createPlatformClient, PlatformApiError, type PlatformClient } from '../generated/clients/platform.ts'
import { createRouterClient, RouterApiError, type RouterClient } from '../generated/clients/router.ts'
import { CommandError, type Connection } from './actions.ts'

/** The router surface, as every user's program sees it. Throws CommandError where there is no key to use. */
export function routerClient(connection: Connection): RouterClient {
  return createRouterClient({ baseUrl: `${connection.baseUrl}/router`, apiKey: keyOf(connection) })
}

/** The compatible surface. Throws CommandError where there is no key to use. */
export function compatClient(connection: Connection): CompatClient {
  return createCompatClient({ baseUrl: connection.baseUrl, apiKey: keyOf(connection) })
}

/** The platform surface. Throws CommandError where there is no key to use. */
export function platformClient(connection: Connection): PlatformClient {
  return createPlatformClient({ baseUrl: connection.baseUrl, apiKey: keyOf(connection) })
}

function keyOf({ apiKey }: Connection): string {
  if (apiKey !== null) return apiKey
  throw new CommandError(
    'no key: set PARLEY_API_KEY, or run this in the folder of a running Parley (its data folder holds a local key)',
  )
}

/** What to print for an error of a command: the server's own words, what to do, and the id to look it up by. */
export function explain(error: unknown): string {
  if ((error instanceof RouterApiError || error instanceof CompatApiError) && error.envelope) {
    const { code, message, hint, param, request_id } = error.envelope.error
    return `${code}${param ? ` at ${param}` : ''}: ${message}\n${hint}\nrequest ${request_id}`
  }
  if (error instanceof PlatformApiError && error.envelope) {
    const { code, error: message, requestId } = error.envelope
    return `${code}: ${message}\nrequest ${requestId}`
  }
  if (!(error instanceof Error)) return String(error)
  const code = (error.cause as { code?: string } | undefined)?.code
  if (code === 'ECONNREFUSED') return 'no Parley answers there; start one with `make run`, or set PARLEY_URL'
  return error.message
}
