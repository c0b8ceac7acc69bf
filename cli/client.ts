import { CompatApiError, type CompatClient, createCompatClient } from '../generated/clients/typescript/compat.ts'
import {
  createPlatformClient,
  PlatformApiError,
  type PlatformClient,
} from '../generated/clients/typescript/platform.ts'
import { createRouterClient, RouterApiError, type RouterClient } from '../generated/clients/typescript/router.ts'
import type { Connection } from './actions.ts'
import { CommandError } from './command-error.ts'
import { fetchOf, isThisMachine } from './reach.ts'

/** Makes a client for the router API, the same generated client that users get. Throws CommandError without a key. */
export function routerClient(connection: Connection): RouterClient {
  return createRouterClient(optionsOf(connection))
}

/** Makes a client for the OpenAI-compatible API. Throws CommandError without a key. */
export function compatClient(connection: Connection): CompatClient {
  return createCompatClient(optionsOf(connection))
}

/** Makes a client for the platform API. Throws CommandError without a key. */
export function platformClient(connection: Connection): PlatformClient {
  return createPlatformClient(optionsOf(connection))
}

/**
 * Returns the request's `routing` member for the option `--model`. Without the option the member is left out, and the
 * router chooses the model.
 */
export function pinnedTo(pin: string | undefined): { routing?: { mode: 'explicit'; model: string } } {
  return pin ? { routing: { mode: 'explicit', model: pin } } : {}
}

function optionsOf(connection: Connection) {
  // Nothing is retried: a person at a terminal wants the failure at once, and can repeat the command.
  return { baseUrl: connection.baseUrl, apiKey: keyOf(connection), fetch: fetchOf(connection), retriesMax: 0 }
}

function keyOf({ baseUrl, apiKey, keyFrom }: Connection): string {
  if (apiKey !== null) return apiKey
  if (keyFrom === 'local' && !isThisMachine(baseUrl))
    throw new CommandError(
      `no key for ${new URL(baseUrl).host}: a local key is sent to this machine alone; name one with --key or PARLEY_API_KEY`,
    )
  throw new CommandError(
    'no key: name one with --key or PARLEY_API_KEY, or run this in the folder of a running Parley (its data folder holds a local key)',
  )
}

/**
 * Returns the text for a failed command. If the server sent an error body in the API's format, the text has the
 * server's message, its hint and the request id.
 */
export function explain(error: unknown): string {
  if ((error instanceof RouterApiError || error instanceof CompatApiError) && error.envelope) {
    const { code, message, hint, param, request_id } = error.envelope.error
    return `${code}${param ? ` at ${param}` : ''}: ${message}\n${hint}\nrequest ${request_id}`
  }
  if (error instanceof PlatformApiError && error.envelope) {
    const { code, error: message, issues = [], requestId } = error.envelope
    const [only] = issues
    // If there is only one issue, the error's message already contains it, so the issue is not repeated.
    if (issues.length === 1 && only && message.startsWith(only.message)) {
      const at = message.includes(only.path) ? '' : ` at ${only.path}`
      // After the issue, the message of this code only refers to the list of issues.
      const text = code === 'VALIDATION_ERROR' ? `${only.message}.` : message
      return `${code}${at}: ${text}\nrequest ${requestId}`
    }
    const faults = issues.map(({ path, message }) => `  ${path}: ${message}`)
    return [`${code}: ${message}`, ...faults, `request ${requestId}`].join('\n')
  }
  if (isApiError(error)) return `${error.message}. Is a Parley at this address, without a path of its own?`
  return error instanceof Error ? error.message : String(error)
}

/**
 * True if the error is an HTTP response. If its body does not have the API's error format, the response comes from
 * another program or from a proxy.
 */
const isApiError = (error: unknown): error is Error =>
  error instanceof RouterApiError || error instanceof CompatApiError || error instanceof PlatformApiError
