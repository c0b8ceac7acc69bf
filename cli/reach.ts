/** Sends the commands' requests. If they do not reach a Parley, the message names the URL and the key. */
import type { Connection } from './actions.ts'
import { CommandError, KeyRefused, UsageError } from './command-error.ts'

/** The audit log recognizes the command line by this name. */
const userAgent = 'parley-cli'

/** Returns a `fetch` that throws CommandError if no server answers, and KeyRefused for a 401. */
export function fetchOf(connection: Connection): typeof globalThis.fetch {
  return async (input, init) => {
    const headers = new Headers(init?.headers)
    headers.set('user-agent', userAgent)
    const answer = await globalThis.fetch(input, { ...init, headers }).catch((error: unknown) => {
      throw init?.signal?.aborted === true ? error : unreached(connection.baseUrl, error)
    })
    if (answer.status === 401) throw new KeyRefused(refusedKey(connection))
    return answer
  }
}

export type Reached = { url?: string; key?: string }

/**
 * Applies the options `--url` and `--key`, which override the environment. The key from a first local run is never sent
 * to another machine.
 */
export function reachedBy(connection: Connection, { url, key }: Reached): Connection {
  if (url === undefined && key === undefined) return connection
  const baseUrl = url === undefined ? connection.baseUrl : readAddress(url, '--url')
  if (key !== undefined) return { baseUrl, apiKey: key, keyFrom: '--key' }
  const isForeign = connection.keyFrom === 'local' && !isThisMachine(baseUrl)
  return { ...connection, baseUrl, apiKey: isForeign ? null : connection.apiKey }
}

export const isThisMachine = (address: string): boolean => thisMachine.has(new URL(address).hostname)
const thisMachine = new Set(['127.0.0.1', 'localhost', '[::1]'])

/** Reads a server's URL. Throws UsageError if it is not valid. `from` is the option or variable with the URL. */
export function readAddress(text: string, from: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new UsageError(`${from}: ${text} is no address such as http://127.0.0.1:8080`)
  return text.replace(/\/+$/, '')
}

function refusedKey({ baseUrl, keyFrom }: Connection): string {
  if (keyFrom === 'local')
    return `the key of this folder's first local run is refused by ${baseUrl}; name a key with --key or PARLEY_API_KEY`
  return `${keyFrom} is refused by ${baseUrl}: the key is unknown, revoked or expired there; on its machine \`parley keys create --org NAME\` makes one`
}

function unreached(address: string, error: unknown): unknown {
  if (!(error instanceof TypeError)) return error
  const { code, message } = (error.cause ?? {}) as { code?: string; message?: string }
  const start = code === 'ECONNREFUSED' ? 'start one with `make run`, or ' : ''
  return new CommandError(
    `${wordsOf(code ?? message ?? '', address)}; ${start}name another address with --url or PARLEY_URL`,
    { cause: error },
  )
}

function wordsOf(code: string, address: string): string {
  const { hostname } = new URL(address)
  if (code === 'ECONNREFUSED') return `no Parley answers at ${address}`
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `there is no host ${hostname}`
  if (code === 'ETIMEDOUT' || code === 'UND_ERR_CONNECT_TIMEOUT') return `${address} does not answer in time`
  if (code.startsWith('HPE_') || code === 'UND_ERR_SOCKET' || code === 'ECONNRESET')
    return `what listens at ${address} ends the connection, or does not speak HTTP`
  if (certificates.test(code))
    return `the certificate of ${address} is not trusted (${code}); name that of its authority in NODE_EXTRA_CA_CERTS`
  return `${address} cannot be reached${code === '' ? '' : ` (${code})`}`
}

const certificates = /CERT|SELF_SIGNED|ALTNAME|UNABLE_TO_VERIFY/
