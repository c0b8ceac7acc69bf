/** Opens the sockets in the AsyncAPI documents: checks subprotocol and key, then makes a session for each socket. */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { realtimeSurface } from '../generated/realtime/channels.ts'
import { sessionSurface } from '../generated/session/channels.ts'
import type { Channel } from '../runtime/engine/channel.ts'
import type { SocketSession } from '../runtime/engine/socket.ts'
import { binaryRefused, takeText } from '../runtime/ws/frames.ts'
import { type Answer, answerOf } from './answer.ts'
import { operationsOf, type Surface } from './documents.ts'
import { MockRealtime } from './events-channel.ts'
import { invalidBody, unknownPath } from './faults.ts'
import { MockSocket, realtimeMessages, sessionMessages } from './frames.ts'
import { appliedHeader, readPreferences } from './preferences.ts'
import { hasKey, urlOf } from './respond.ts'
import { MockSession } from './session-channel.ts'
import { MockSynthesis, MockTranscription, type StreamOptions } from './stream-channels.ts'

type CreateSession = (socket: WebSocket, options: StreamOptions) => SocketSession

const sessions: Readonly<Record<string, CreateSession>> = {
  transcribeStream: (socket, options) => new MockTranscription(new MockSocket(socket, realtimeMessages), options),
  synthesizeStream: (socket, options) => new MockSynthesis(new MockSocket(socket, realtimeMessages), options),
  transcriptionRealtime: (socket) => new MockRealtime(new MockSocket(socket, realtimeMessages)),
  sessionMedia: (socket, options) => new MockSession(new MockSocket(socket, sessionMessages), options),
}
const channels = [...realtimeSurface.channels, ...sessionSurface.channels]

/** The maximum number of bytes in a frame, as the contracts say. */
const frameBytesMax = 256 * 1024

export class MockSockets {
  readonly #surfaces: readonly Surface[]
  readonly #servers = new Map(channels.map((channel) => [channel.id, createServer(channel)]))

  constructor(surfaces: readonly Surface[]) {
    this.#surfaces = surfaces
  }

  /** Opens the socket. Returns the answer over HTTP if the request is refused. */
  open(request: IncomingMessage, socket: Duplex, head: Buffer): Answer | null {
    const { pathname } = urlOf(request)
    const channel = channels.find(({ address }) => patternOf(address).test(pathname))
    const server = this.#servers.get(channel?.id ?? '')
    const create = sessions[channel?.id ?? '']
    if (channel === undefined || server === undefined || create === undefined) return unknownPath(pathname)
    const { status, example, error: wantedError } = readPreferences(request.headers['prefer'])
    const refusal = this.#refusalOf(channel, request, status)
    if (refusal !== null)
      return { ...refusal, headers: { ...refusal.headers, ...appliedHeader({ status, example, error: null }) } }
    server.handleUpgrade(request, socket, head, (opened) => serve(channel, opened, create(opened, { wantedError })))
    return null
  }

  close(): void {
    for (const server of this.#servers.values()) for (const client of server.clients) client.close(restarting)
  }

  #refusalOf(channel: Channel, request: IncomingMessage, status: string | null): Answer | null {
    const isPlatform = sessionSurface.channels.includes(channel)
    const offered = protocolsOf(request)
    const isOffered = offered.includes(channel.subprotocol)
    const mayLack = !channel.requiresSubprotocol || (offered.length === 0 && hasKey(request))
    if (!isOffered && !mayLack) return this.#declared(isPlatform, '400', `offer the subprotocol ${channel.subprotocol}`)
    const hasToken = offered.some(
      (name) => name.startsWith(channel.credentialPrefix) && name !== channel.credentialPrefix,
    )
    if (!hasKey(request) && !hasToken) return this.#declared(isPlatform, '401')
    return status === null ? null : this.#declared(isPlatform, status)
  }

  /**
   * A refused socket gets an error response as the HTTP API declares it: the platform API for a session's socket, the
   * OpenAI-compatible API for a realtime socket.
   */
  #declared(isPlatform: boolean, status: string, message?: string): Answer | null {
    const surface = this.#surfaces.find(({ name }) => name === (isPlatform ? 'platform' : 'compat'))
    if (surface === undefined) return null
    const operation = operationsOf(surface).find(
      ({ responses }) => Number(status) >= 400 && responses[status] !== undefined,
    )
    const answer = operation && answerOf(surface, operation, status, { body: undefined, accept: '', example: null })
    if (answer === undefined || answer === null || message === undefined) return answer ?? null
    return {
      ...answer,
      body: invalidBody(surface.name, [{ path: 'Sec-WebSocket-Protocol', message, keyword: 'required' }]),
    }
  }
}

/** The close code when the server ends. */
const restarting = 1012

function createServer({ subprotocol }: Channel): WebSocketServer {
  const handleProtocols = (offered: Set<string>) => (offered.has(subprotocol) ? subprotocol : false)
  return new WebSocketServer({ noServer: true, maxPayload: frameBytesMax, handleProtocols })
}

function serve(channel: Channel, socket: WebSocket, session: SocketSession): void {
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    if (!isBinary) return takeText(channel, session, data.toString())
    if (channel.acceptsBinary) session.onBytes(data)
    else session.onRefused(binaryRefused)
  })
  // ws has closed the socket already, for example after a frame beyond the limit.
  socket.on('error', () => {})
}

const patternOf = (address: string) => new RegExp(`^${address.replace(/\{\w+\}/g, '[^/]+')}$`)

function protocolsOf({ headers }: IncomingMessage): string[] {
  return (headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}
