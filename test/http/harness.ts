/** A small API, a server for it on a free port, and raw TCP sockets to the server. */
import net from 'node:net'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { withAnswerChecks, withFrameChecks } from '../../app/answer-checks.ts'
import { type FaultWriter, type Handlers, Refusal } from '../../runtime/engine/handler.ts'
import type { Operation, Surface, Validate } from '../../runtime/engine/operation.ts'
import type { Mount, ServerOptions } from '../../runtime/engine/options.ts'
import { type Server, startServer } from '../../runtime/server/server.ts'
import { Owners } from '../../runtime/shares/owners.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { settled } from '../clock.ts'
import { engine } from '../engine/engines.ts'

const options = { strict: true, strictTypes: false, strictRequired: false, discriminator: true, useDefaults: true }
const ajv = new Ajv2020(options)

/** Compiles a schema. `allErrors`: validation continues after the first violation, as in the platform API. */
export function validator(schema: object, { allErrors = false } = {}): Validate {
  return (allErrors ? new Ajv2020({ ...options, allErrors }) : ajv).compile(schema)
}

export function operation(
  id: string,
  method: Operation['method'],
  path: string,
  more: Partial<Operation> = {},
): Operation {
  return {
    id,
    method,
    path,
    pattern: path.replaceAll(/\{([^}]+)\}/g, ':$1'),
    pathParams: [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1] as string),
    query: [],
    headers: [],
    scope: null,
    role: null,
    body: null,
    validateParams: null,
    validateBody: null,
    responses: { '200': { types: ['application/json'], headers: [] } },
    deprecation: null,
    ...more,
  }
}

export function surface(name: string, ...operations: Operation[]): Surface {
  const methods = new Map<string, string[]>()
  for (const { pattern, method } of operations) {
    methods.set(pattern, [
      ...(methods.get(pattern) ?? []),
      ...(method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]),
    ])
  }
  const paths = [...methods].map(([pattern, own]) => ({ pattern, allow: [...own, 'OPTIONS'].join(', '), refused: [] }))
  return { name, operations, paths }
}

export const jsonBody = {
  required: true,
  types: ['application/json'],
  parts: [],
  partsOrdered: false,
  partsOpen: false,
  limit: 'json' as const,
}

const statuses: Record<string, number> = {
  unauthenticated: 401,
  forbidden: 403,
  invalid_parameter: 400,
  malformed_body: 400,
  socket_expected: 400,
  payload_too_large: 413,
  unsupported_media: 415,
  not_found: 404,
  method_not_allowed: 405,
  rate_limited: 429,
  overloaded: 503,
  request_timeout: 408,
}

/** Writes error bodies with the API's name, so that a test sees which API has answered. */
export function faults(surfaceName: string): FaultWriter {
  return (error, requestId) => {
    const refusal = error instanceof Refusal ? error : null
    const { param, message, hint, retryAfterS } = refusal?.detail ?? {}
    return {
      status: refusal ? (statuses[refusal.kind] ?? 500) : 500,
      headers: retryAfterS === undefined ? {} : { 'Retry-After': String(retryAfterS) },
      body: JSON.stringify({
        surface: surfaceName,
        kind: refusal?.kind ?? 'internal',
        param,
        message,
        hint,
        requestId,
      }),
    }
  }
}

export function mount(served: Surface, handlers: Handlers, more: Partial<Mount> = {}): Mount {
  return {
    surface: served,
    basePath: '',
    host: null,
    handlers,
    writeFault: faults(served.name),
    corsOrigins: [],
    quota: true,
    health: false,
    ...more,
  }
}

export type Ended = { operation: string; status: number }
export type Served = Server & { url: string; uploadUrl: string; ended: Ended[]; errors: unknown[] }

type Overrides = Omit<Partial<ServerOptions>, 'limits'> & { limits?: Partial<ServerOptions['limits']> }

/**
 * Starts a server. `ended` collects ended HTTP exchanges. `errors` collects the unexpected errors for which an API
 * wrote an error response.
 */
export async function start(mounts: Mount[], { sockets = [], ...overrides }: Overrides = {}): Promise<Served> {
  const ended: Ended[] = []
  const errors: unknown[] = []
  let requests = 0
  const server = await startServer({
    engine,
    host: '127.0.0.1',
    port: 0,
    sharedPort: 'no',
    uploadPort: null,
    region: 'testland',
    headerPrefix: 'Service',
    mounts: mounts.map((mount) => recording(withAnswerChecks(mount), errors)),
    authenticate: () => null,
    requestId: () => `req_${++requests}`,
    shares: { owners: new Owners(), part: 0.25, ownerOf: String, admitBody: () => null },
    edgeQuota: { requests: 0, windowS: 300, trustedProxies: [], addressesMax: 1000 },
    drain: { lbDelayMs: 0, graceMs: 1000 },
    clock: systemClock,
    log: { info: () => {}, error: (fields) => errors.push((fields as { err: unknown }).err) },
    sockets: sockets.map(withFrameChecks),
    echo: false,
    metrics: {
      request: (name, status) => ended.push({ operation: name, status }),
      inflight: () => {},
      socketOpened: () => {},
      socketClosed: () => {},
    },
    tracing: null,
    relay: null,
    ...overrides,
    limits: {
      jsonBytesMax: 65_536,
      keylessBytesMax: 65_536,
      audioBytesMax: 1_048_576,
      uploadMemory: 8_388_608,
      connectionsPerAddressMax: 1000,
      bodyTimeoutMs: 5000,
      bodyBytesPerSMin: 1024,
      uploadBodyTimeoutMs: 10_000,
      readerTimeoutMs: 10_000,
      requestsMax: 1000,
      socketsMax: 10_000,
      frameBytesMax: 262_144,
      bufferBytesMax: 1_048_576,
      pingS: 30,
      ...overrides.limits,
    },
  })
  return Object.assign(server, {
    url: `http://127.0.0.1:${server.port}`,
    uploadUrl: `http://127.0.0.1:${server.uploadPort}`,
    ended,
    errors,
  })
}

/** An answer's first byte must come within this time, also on a busy machine. */
const answerMsMax = 10_000

/**
 * Within this number of event loop turns, a socket in this process reads and answers the bytes from the socket at the
 * other end.
 */
const answerTurns = 5

/**
 * Writes `pieces` to a new connection. Resolves with all received bytes once the server closes, or is silent for
 * `quietMs` after a byte. If this process was blocked that long, it first reads the waiting bytes.
 */
export function raw(
  port: number,
  pieces: string | Buffer,
  quietMs = 150,
): Promise<{ text: string; isClosed: boolean }> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1')
    let text = ''
    const settle = (isClosed: boolean) => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ text, isClosed })
    }
    let timer = setTimeout(() => settle(false), answerMsMax)
    socket.on('data', (chunk) => {
      text += chunk.toString()
      clearTimeout(timer)
      timer = setTimeout(() => void settleIfQuiet(), quietMs)
    })
    const settleIfQuiet = async () => {
      const before = text.length
      for (let turn = 0; turn < answerTurns; turn++) await settled()
      if (text.length === before) settle(false)
    }
    socket.on('error', () => {})
    socket.on('close', () => settle(true))
    socket.write(pieces)
  })
}

/** Writes `pieces` to a new connection, and cuts the connection `cutMs` later without an answer. */
export async function cutOff(port: number, pieces: Buffer, cutMs: number): Promise<void> {
  const socket = net.connect(port, '127.0.0.1').on('error', () => {})
  socket.write(pieces)
  await new Promise((resolve) => setTimeout(resolve, cutMs))
  socket.destroy()
}

/** Polls until `isTrue`. Throws after `waitMs`, long enough for a machine with other tests. */
export async function until(isTrue: () => boolean, waitMs = 40_000): Promise<void> {
  const giveUpMs = performance.now() + waitMs
  while (!isTrue()) {
    if (performance.now() > giveUpMs) throw new Error('the condition did not become true in time')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

function recording(mount: Mount, errors: unknown[]): Mount {
  const writeFault: Mount['writeFault'] = (error, requestId) => {
    const fault = mount.writeFault(error, requestId)
    if (fault.status >= 500 && !(error instanceof Refusal)) errors.push(error)
    return fault
  }
  return { ...mount, writeFault }
}
