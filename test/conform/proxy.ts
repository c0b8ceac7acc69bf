/** A proxy in front of a server. It changes responses or frames to add a fault, which `parley conform` must find. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { request } from 'undici'
import { WebSocket, WebSocketServer } from 'ws'

export type Answer = { status: number; headers: Record<string, string>; body: Buffer }
export type Asked = { method: string; path: string; headers: IncomingMessage['headers']; body: Buffer }
/** An upgrade request: its credentials, and a valid API key, with which a fault can open the socket for any client. */
type Opening = { authorization: string | undefined; protocols: readonly string[]; key: string }
/** A frame from the server. Text is parsed. */
export type Frame = { type: string } & Record<string, unknown>
export type Fault = {
  /** Changes a request in place before the server gets it. */
  request?: (asked: Asked, key: string) => void
  /** True to cut the connection in the middle of the answer, or before a stream's end. */
  cuts?: (asked: Asked, answer: Answer) => boolean
  /** Returns the authorization to use for an upgrade, or a status to refuse it. */
  opens?: (opening: Opening) => string | number | undefined
  /** True if the proxy drops frames that are too large. */
  dropsLarge?: boolean
  /** Changes an answer in place. */
  answer?: (asked: Asked, answer: Answer) => void
  /** Returns other frames to send instead. */
  frame?: (frame: Frame | Buffer) => readonly (Frame | Buffer)[]
  /** Changes a frame from the client in place. Null drops it. */
  asked?: (frame: Frame) => Frame | null
  /** False if the proxy accepts an upgrade without returning the subprotocol. */
  echoesProtocol?: boolean
  /** True if the proxy answers 200 to a request that declares a length of gigabytes. */
  takesHuge?: boolean
  /** The close code for the client, instead of the server's. */
  closeCode?: number
}

/** `addresses` collects each request's path and query. */
export type Proxy = { url: string; key: string; fault: Fault; addresses: Set<string>; close: () => Promise<void> }

export async function startProxy(target: string, key: string): Promise<Proxy> {
  const proxy: Proxy = { url: '', key, fault: {}, addresses: new Set(), close: () => Promise.resolve() }
  const server = createServer((incoming, outgoing) => void forward(target, proxy, incoming, outgoing))
  const sockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) => (proxy.fault.echoesProtocol === false ? false : ([...offered][0] ?? false)),
  })
  server.on('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    join(target, proxy, sockets, { incoming, socket, head })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  proxy.close = async () => {
    for (const client of sockets.clients) client.terminate()
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  return proxy
}

/** Headers for one connection. A proxy does not pass them on. */
const ownHeaders = ['connection', 'keep-alive', 'transfer-encoding', 'date', 'host']
/** The length is not passed on, because a fault may change the body. */
const bodyHeaders = ['content-length']

async function forward(target: string, proxy: Proxy, incoming: IncomingMessage, outgoing: ServerResponse) {
  // The server refuses a request with this length before its body, so the proxy does not wait for the body.
  if (Number(incoming.headers['content-length']) > 1_000_000_000) {
    outgoing.writeHead(proxy.fault.takesHuge === true ? 200 : 413).end()
    return
  }
  const pieces: Buffer[] = []
  for await (const piece of incoming as AsyncIterable<Buffer>) pieces.push(piece)
  const asked = {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: incoming.headers,
    body: Buffer.concat(pieces),
  }
  proxy.addresses.add(asked.path)
  proxy.fault.request?.(asked, proxy.key)
  const headers = Object.fromEntries(
    Object.entries(asked.headers).filter(([name]) => ![...ownHeaders, ...bodyHeaders].includes(name)),
  )
  const received = await request(target + asked.path, {
    method: asked.method as 'GET',
    headers: headers as Record<string, string>,
    ...(asked.body.length > 0 && { body: asked.body }),
  })
  const answer: Answer = {
    status: received.statusCode,
    headers: Object.fromEntries(
      Object.entries(received.headers)
        .filter(([name]) => !ownHeaders.includes(name))
        .map(([name, value]) => [name, String(value)]),
    ),
    body: Buffer.from(await received.body.arrayBuffer()),
  }
  const length = answer.body.length
  proxy.fault.answer?.(asked, answer)
  // If a fault changes the body, it changes the length too, unless the length is the fault.
  if (answer.headers['content-length'] === String(length) && asked.method !== 'HEAD')
    answer.headers['content-length'] = String(answer.body.length)
  outgoing.writeHead(answer.status, answer.headers)
  if (proxy.fault.cuts?.(asked, answer) === true) {
    const isStream = answer.headers['content-length'] === undefined
    const sent = isStream ? answer.body : answer.body.subarray(0, answer.body.length / 2)
    outgoing.write(sent, () => outgoing.destroy())
  } else outgoing.end(answer.body)
}

type Upgrade = { incoming: IncomingMessage; socket: Duplex; head: Buffer }

/** Opens a socket to the server first, so its refusal reaches the client. */
function join(target: string, proxy: Proxy, sockets: WebSocketServer, { incoming, socket, head }: Upgrade): void {
  const protocols = (incoming.headers['sec-websocket-protocol'] ?? '').split(/, */).filter((name) => name !== '')
  proxy.addresses.add(incoming.url ?? '')
  const opening = { authorization: incoming.headers.authorization, protocols, key: proxy.key }
  const authorization = proxy.fault.opens === undefined ? opening.authorization : proxy.fault.opens(opening)
  if (typeof authorization === 'number') return refuse(socket, authorization)
  const headers = authorization === undefined ? {} : { authorization }
  const server = new WebSocket(target.replace(/^http/, 'ws') + incoming.url, protocols, { headers })
  const early: [Buffer, boolean][] = []
  const keep = (data: Buffer, isBinary: boolean) => early.push([data, isBinary])
  server.on('message', keep)
  server.on('error', () => socket.destroy())
  server.on('unexpected-response', (_request, response) => {
    refuse(socket, response.statusCode ?? 0)
  })
  server.on('open', () =>
    sockets.handleUpgrade(incoming, socket, head, (client) => {
      server.off('message', keep)
      connect(proxy, server, client)
      for (const [data, isBinary] of early) server.emit('message', data, isBinary)
    }),
  )
}

function refuse(socket: Duplex, status: number): void {
  socket.end(`HTTP/1.1 ${status} Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`)
}

/** This is more than any frame in a session has, and less than the frame with which the tool tests the size limit. */
const largeBytes = 1024 * 1024

function connect(proxy: Proxy, server: WebSocket, client: WebSocket): void {
  server.on('message', (data: Buffer, isBinary: boolean) => {
    const frame = isBinary ? data : (JSON.parse(data.toString()) as Frame)
    for (const each of proxy.fault.frame?.(frame) ?? [frame])
      client.send(Buffer.isBuffer(each) ? each : JSON.stringify(each))
  })
  client.on('message', (data: Buffer, isBinary: boolean) => {
    if (proxy.fault.dropsLarge === true && data.length > largeBytes) return
    const frame = isBinary ? null : (JSON.parse(data.toString()) as Frame)
    const passed = frame === null ? data : proxy.fault.asked === undefined ? frame : proxy.fault.asked(frame)
    if (passed !== null) server.send(Buffer.isBuffer(passed) ? passed : JSON.stringify(passed))
  })
  server.on('close', (code) =>
    client.close(proxy.fault.closeCode ?? (code < 1000 || code === 1005 || code === 1006 ? 1011 : code)),
  )
  client.on('close', () => server.close())
  client.on('error', () => server.terminate())
}
