/**
 * A server with prepared event streams and sockets, for faults that the real server does not have. The first part of
 * the path names the fault. README.md lists the faults.
 */
import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'

type Seen = { fault: string; lastEventId: string | undefined; cursor: string | null }
export type ScriptedServer = {
  url: string
  /** The requests for the stream with this fault, in order. */
  seen(fault: string): Seen[]
  /** The fault names in the paths of all socket requests, in order. */
  upgraded: readonly string[]
  close(): Promise<void>
}

/** The clients' size limit for an event and for a frame. */
const bytesMax = 16 * 1024 * 1024
const json = { 'content-type': 'application/json' }

export async function startScriptedServer(): Promise<ScriptedServer> {
  const seen: Seen[] = []
  const upgraded: string[] = []
  const ofFault = (fault: string) => seen.filter((request) => request.fault === fault)
  const waiting = new Map<string, ServerResponse[]>()
  const arrivals = new EventEmitter()
  const server = createServer((request, response) => {
    const { fault, cursor, rest } = placeOf(request)
    if (fault === 'reached') return answerAfter(rest, response)
    if (fault === 'released') return release(rest, response)
    seen.push({ fault, cursor, lastEventId: request.headers['last-event-id']?.toString() })
    const script = streams[kindOf(fault)]?.(ofFault(fault).length)
    if (script === 'wait') waiting.set(fault, [...(waiting.get(fault) ?? []), response])
    else if (script) play(script, response)
    else response.writeHead(404).end()
    arrivals.emit(fault)
  })
  const answerAfter = (fault: string, response: ServerResponse) => {
    if (ofFault(fault).length >= (reachedAt[kindOf(fault)] ?? 1)) response.end()
    else arrivals.once(fault, () => answerAfter(fault, response))
  }
  const release = (fault: string, response: ServerResponse) => {
    for (const held of waiting.get(fault) ?? []) play(lastEvents, held)
    response.end()
  }
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: ([first]) => first ?? false })
  const open = new Set<Socket>()
  server.on('connection', (socket) => open.add(socket.on('close', () => open.delete(socket))))
  server.on('upgrade', (request, socket: Socket, head) => {
    const { fault } = placeOf(request)
    upgraded.push(fault)
    if (fault === 'late') return
    if (fault === 'refused') return void socket.end(refusal)
    if (fault === 'moved') return void socket.end(redirect(request))
    sockets.handleUpgrade(request, socket, head, (client) => socketScripts[fault]?.(client, socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen: ofFault,
    upgraded,
    async close() {
      server.close()
      for (const socket of open) socket.destroy()
      await once(server, 'close')
    },
  }
}

function placeOf({ url = '/' }: IncomingMessage): { fault: string; rest: string; cursor: string | null } {
  const { pathname, searchParams } = new URL(url, 'http://scripted')
  const [, fault = '', rest = ''] = pathname.split('/')
  return { fault, rest, cursor: searchParams.get('cursor') }
}

/**
 * A language with an async client reads the same streams again under names with `_async`, so their requests are counted
 * apart.
 */
const kindOf = (fault: string) => fault.replace('_async', '')

/** A stream's text. After the text the connection is reset, or the answer ends, or nothing more comes. */
type Script = { text: string; end: 'cut' | 'whole' | 'never' } | { status: number }

function play(script: Script, response: ServerResponse): void {
  if ('status' in script) {
    const body = { error: 'The server restarts.', code: 'SERVICE_UNAVAILABLE', requestId: 'req_scripted' }
    return void response.writeHead(script.status, json).end(JSON.stringify(body))
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(script.text, () => {
    if (script.end === 'cut') response.socket?.resetAndDestroy()
    if (script.end === 'whole') response.end()
  })
}

const event = (name: string, data: object, id?: string) =>
  `event: ${name}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`

const opened = (cursor: string) => event('open', { cursor, test: false }, cursor)
const occurredAt = '2026-11-21T16:01:00.300Z'
const webhook = (eventId: string, cursor: string) =>
  event(
    'webhook',
    { cursor, eventId, event: 'call.status', sessionId: 's', version: null, occurredAt, body: '{}' },
    cursor,
  )
const status = (text: string, id: string) => event('status', { status: text, endedAt: null }, id)
const turn = (index: number, id: string) => event('transcript', { index, source: 'user', text: 'Hello.' }, id)
const callEvent = (id: string, position: string) => event('event', { id, event_type: 'call.ringing' }, position)
const ended = (id: string) => event('end', { reason: 'timeout' }, id)

/** `/reached/opening` is answered when `/opening` has this many requests. */
const reachedAt: Readonly<Record<string, number>> = { opening: 2, pausing: 5 }
const firstEvents: Script = { text: `${opened('1:1')}${webhook('a', '1:5')}`, end: 'cut' }
const lastEvents: Script = { text: `${opened('1:5')}${ended('1:5')}`, end: 'whole' }

/**
 * For each stream, the script for its n-th request. `request` starts at 1. A request that waits is answered when a
 * program asks for `/released`.
 */
const streams: Readonly<Record<string, (request: number) => Script | 'wait'>> = {
  twins: (request) =>
    nth(request, [
      // An event without an empty line is incomplete, so its id does not count.
      { text: `${opened('1:1')}${webhook('a', '1:5')}${webhook('b', '1:5')}id: 1:9\nevent: webhook\n`, end: 'cut' },
      { status: 503 },
      { text: `${opened('1:5')}${webhook('a', '1:5')}${webhook('b', '1:5')}${webhook('c', '1:9')}`, end: 'cut' },
      { text: `${opened('1:9')}${webhook('c', '1:9')}${webhook('d', '1:9')}${ended('1:9')}`, end: 'whole' },
    ]),
  states: (request) =>
    nth(request, [
      { text: `${status('in_progress', '-1:0')}${turn(0, '0:0')}${callEvent('e', '0:7')}`, end: 'cut' },
      {
        text: `${status('in_progress', '0:7')}${callEvent('e', '0:7')}${status('transferring', '0:7')}`,
        end: 'cut',
      },
      { text: `${status('in_progress', '0:7')}${turn(1, '1:7')}${ended('1:7')}`, end: 'whole' },
    ]),
  lost: () => firstEvents,
  stalled: (request) =>
    nth(request, [
      firstEvents,
      { text: `${opened('1:5')}${webhook('b', '1:9')}`, end: 'never' },
      { text: `${opened('1:9')}${webhook('c', '1:9')}${ended('1:9')}`, end: 'whole' },
    ]),
  opening: (request) => (request === 1 ? firstEvents : 'wait'),
  /** After four refused attempts a client waits 4 s before the next attempt. */
  pausing: (request) => (request === 1 ? firstEvents : request <= 5 ? { status: 503 } : lastEvents),
  unreadable: () => ({ text: 'event: response.text.delta\ndata: {"delta":\n\n', end: 'whole' }),
  longest: () => ({ text: longEvent(bytesMax), end: 'whole' }),
  long: () => ({ text: longEvent(bytesMax + 1), end: 'whole' }),
}

function nth(request: number, scripts: readonly Script[]): Script {
  return scripts[request - 1] ?? { status: 500 }
}

/** An event whose lines have this many bytes, followed by the last event. */
function longEvent(bytes: number): string {
  const [name, start, end] = ['event: response.text.delta', 'data: {"delta":"', '"}']
  // The letter ü has two bytes in UTF-8.
  const rest = bytes - name.length - start.length - end.length
  const text = `${'ü'.repeat(Math.floor(rest / 2))}${'u'.repeat(rest % 2)}`
  return `${name}\n${start}${text}${end}\n\n${event('response.completed', { response: {} })}`
}

const refused = JSON.stringify({
  error: { code: 'unauthorized', type: 'authentication_error', message: 'No.', hint: 'Sign in.', retryable: false },
})
const refusal = `HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\nContent-Length: ${refused.length}\r\nConnection: close\r\n\r\n${refused}`
/** Names the same server by another host, which must not get the key. */
const redirect = ({ headers: { host = '' } }: IncomingMessage) =>
  `HTTP/1.1 307 Temporary Redirect\r\nLocation: http://${host.replace('127.0.0.1', 'localhost')}/elsewhere/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`

const errorFrame = (fields: object) => JSON.stringify({ type: 'error', message: 'No.', requestId: 'req_1', ...fields })
/** How long the server does not read from a slow socket. */
const slowMs = 300

const socketScripts: Readonly<Record<string, (client: WebSocket, socket: Socket) => void>> = {
  normal: (client) => client.close(1000),
  away: (client) => client.close(1001, 'the server goes away'),
  empty: (client) => client.close(),
  cut: (_client, socket) => socket.resetAndDestroy(),
  reason: (client) => client.close(1012, 'SHUTTING_DOWN'),
  later: (client) => {
    client.send(errorFrame({ code: 'LATER', retryable: true }))
    client.close(4000, 'LATER')
  },
  frame: (client) => {
    client.send(errorFrame({ code: 'UPSTREAM', retryable: false }))
    client.close(1011, 'text for people')
  },
  mild: (client) => {
    client.send(errorFrame({ code: 'INVALID_FRAME', retryable: false, fatal: false }))
    client.close(1013, '')
  },
  text: (client) => client.send('{"type":'),
  list: (client) => client.send('[]'),
  null: (client) => client.send('null'),
  large: (client) => client.send(Buffer.alloc(bytesMax + 1)),
  largest: (client) => {
    client.send(Buffer.alloc(bytesMax))
    client.close(1000)
  },
  offered: (client) => client.close(4001, client.protocol),
  /** Reads nothing for a while, and then closes with the number of bytes after the first text frame. */
  slow: (client) => {
    let bytes = 0
    client.pause()
    setTimeout(() => client.resume(), slowMs)
    client.on('message', (data: Buffer, isBinary) => {
      if (isBinary) bytes += data.length
      else client.close(4002, String(bytes))
    })
  },
}
