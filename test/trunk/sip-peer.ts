/** The other side of a trunk: sends SIP messages as text and keeps received messages. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Framing } from '../../providers/trunk/framing.ts'
import {
  isRequest,
  readMessage,
  type SipMessage,
  type SipRequest,
  type SipResponse,
} from '../../providers/trunk/message.ts'
import type { TestClock } from '../clock.ts'
import { wholeProcess } from '../time/quiet.ts'

export type PeerOptions = {
  /** The trunk line's port. */
  port: number
  transport?: 'udp' | 'tcp'
  /** The peer's own IP address for UDP. */
  address?: string
  /** The peer's port for UDP. 0: any free port. */
  bindPort?: number
  /** The port in the peer's Contact. If absent, the peer's own port. */
  contactPort?: number
  /** The clock moves while the peer waits for a message. */
  clock?: TestClock | undefined
}

let count = 0

export class SipPeer {
  readonly received: SipMessage[] = []
  readonly transport: 'udp' | 'tcp'
  readonly #send: (text: string) => void
  readonly close: () => void
  /** True once the peer's TCP socket has ended. */
  isClosed = false
  readonly port: number
  /** The port to which the peer sends its UDP messages. */
  toPort = 0
  readonly #contactPort: number
  #clock: TestClock | undefined

  static async open({
    port,
    transport = 'udp',
    address = '127.0.0.1',
    bindPort = 0,
    contactPort,
    clock,
  }: PeerOptions): Promise<SipPeer> {
    if (transport === 'tcp') {
      const socket = connect({ host: '127.0.0.1', port })
      await once(socket, 'connect')
      const framing = new Framing()
      const peer = new SipPeer(
        transport,
        socket.localPort ?? 0,
        (text) => void socket.write(text),
        () => void socket.destroy(),
        contactPort,
      )
      peer.#clock = clock
      socket.on('error', () => {})
      socket.on('close', () => {
        peer.isClosed = true
      })
      socket.on('data', (chunk) => {
        const messages = framing.take(chunk)
        if (messages !== 'broken') for (const message of messages) peer.#keep(message)
      })
      return peer
    }
    const socket = createSocket('udp4')
    socket.bind(bindPort, address)
    await once(socket, 'listening')
    const peer: SipPeer = new SipPeer(
      transport,
      socket.address().port,
      (text) => socket.send(text, peer.toPort, '127.0.0.1'),
      () => void socket.close(),
      contactPort,
    )
    peer.toPort = port
    peer.#clock = clock
    socket.on('message', (bytes) => peer.#keep(bytes))
    return peer
  }

  private constructor(
    transport: 'udp' | 'tcp',
    port: number,
    send: (text: string) => void,
    close: () => void,
    contactPort = port,
  ) {
    this.#contactPort = contactPort
    this.transport = transport
    this.port = port
    this.#send = send
    this.close = close
  }

  raw(text: string): void {
    this.#send(text)
  }

  /** Sends a request with the usual headers. Returns the text, so it can be sent again. */
  send(
    method: string,
    { uri = 'sip:+15550001111@127.0.0.1', to, from, cseq = 1, callId, branch, headers = [], body = '' }: Sent,
  ): string {
    const number = branch ?? `z9hG4bK-${++count}`
    const text = [
      `${method} ${uri} SIP/2.0`,
      `Via: SIP/2.0/${this.transport.toUpperCase()} 127.0.0.1:${this.port};branch=${number};rport`,
      `From: ${from ?? '<sip:+15557654321@127.0.0.1>;tag=far'}`,
      `To: ${to ?? `<${uri}>`}`,
      `Call-ID: ${callId}`,
      `CSeq: ${cseq} ${method}`,
      'Max-Forwards: 70',
      `Contact: <sip:far@127.0.0.1:${this.#contactPort}>`,
      ...headers,
      `Content-Length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ].join('\r\n')
    this.#send(text)
    return text
  }

  /** Answers a request of the trunk line. */
  respond(request: SipRequest, code: number, { toTag = 'far', headers = [], body = '' }: Responded = {}): void {
    const copied = request.headers
      .filter(([name]) => ['via', 'from', 'to', 'call-id', 'cseq'].includes(name))
      .map(([name, value]) => `${name}: ${value}${name === 'to' && request.to.tag === null ? `;tag=${toTag}` : ''}`)
    const more = [
      `Contact: <sip:far@127.0.0.1:${this.#contactPort}>`,
      ...headers,
      `Content-Length: ${Buffer.byteLength(body)}`,
    ]
    this.#send([`SIP/2.0 ${code} Answer`, ...copied, ...more, '', body].join('\r\n'))
  }

  requests(method: string): SipRequest[] {
    return this.received.filter(isRequest).filter((request) => request.method === method)
  }

  responses(code: number, method?: string): SipResponse[] {
    return this.received.filter(
      (message): message is SipResponse =>
        !isRequest(message) && message.code === code && (method === undefined || message.cseq.method === method),
    )
  }

  async request(method: string, number = 1): Promise<SipRequest> {
    return await wanted(() => this.requests(method)[number - 1], `request ${method} ${number}`, this.#clock)
  }

  async response(code: number, method?: string, number = 1): Promise<SipResponse> {
    return await wanted(() => this.responses(code, method)[number - 1], `response ${code} ${number}`, this.#clock)
  }

  #keep(bytes: Buffer): void {
    const message = readMessage(bytes)
    if (message === null) throw new Error(`no message of SIP: ${bytes.toString()}`)
    this.received.push(message)
  }
}

export type Sent = {
  uri?: string
  to?: string
  from?: string
  cseq?: number
  callId: string
  branch?: string
  headers?: readonly string[]
  body?: string
}
type Responded = { toTag?: string; headers?: readonly string[]; body?: string }

/** Returns the result as soon as `find` has one. The given clock moves until then. */
export async function wanted<T>(find: () => T | undefined | null | false, name: string, clock?: TestClock): Promise<T> {
  if (clock !== undefined) await clock.until(name, () => Boolean(find()))
  for (let tries = 0; tries < 2_000; tries++) {
    const found = find()
    if (found) return found
    await sleep(5)
  }
  throw new Error(`missing: ${name}`)
}

/** Waits until all messages in this process have arrived, so a test can show that nothing comes. */
export const quiet = () => wholeProcess.settled()

export const sdpType = 'Content-Type: application/sdp'

export function sdp({ port = 40_000, types = '0 101', more = [] as string[], address = '127.0.0.1' } = {}): string {
  return [
    'v=0',
    `o=far 1 1 IN IP4 ${address}`,
    's=-',
    `c=IN IP4 ${address}`,
    't=0 0',
    `m=audio ${port} RTP/AVP ${types}`,
    'a=rtpmap:101 telephone-event/8000',
    ...more,
    '',
  ].join('\r\n')
}
