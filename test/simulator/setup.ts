/**
 * Starts a simulator with real sockets on a test clock, and a customer's server, which receives its webhooks and media
 * sockets.
 */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { type WebSocket, WebSocketServer } from 'ws'
import { ChunkedBytes } from '../../audio/chunked-bytes.ts'
import { readWav } from '../../audio/wav.ts'
import { codecs, type LineFormat, type Speech } from '../../simulator/media/clip.ts'
import { type SimulatorOptions, startSimulator } from '../../simulator/simulator.ts'
import { TestClock } from '../clock.ts'
import { until } from '../http/harness.ts'
import { type FixtureName, readFixture } from '../speech/fixtures.ts'

export type Received = { headers: IncomingHttpHeaders; body: string; type: string; id: string; payload: Payload }
export type Payload = Record<string, unknown> & { call_control_id: string }
export type Frame = { event: string; media?: { chunk: string; payload: string } } & Record<string, unknown>

export const agentNumber = '+14155550100'
export const far = (digits: string) => `+1500555${digits}`

export function recordingOf(name: FixtureName): Speech {
  const bytes = readFixture(name)
  const { dataOffset, dataBytes, format } = readWav(new ChunkedBytes([bytes]))
  const copy = bytes.slice(dataOffset, dataOffset + dataBytes)
  return { samples: new Int16Array(copy.buffer, 0, copy.length >> 1), sampleRateHz: format.sampleRateHz }
}

/** Returns a clock that begins now, because the carrier's client compares timestamps with the time of day. */
export function clockOfNow(): TestClock {
  const clock = new TestClock()
  clock.setMs = Date.now() - clock.nowMs()
  return clock
}

export type World = Awaited<ReturnType<typeof startWorld>>

export async function startWorld(t: Test, options: Partial<SimulatorOptions> = {}) {
  const clock = clockOfNow()
  const events: Received[] = []
  const streams: Stream[] = []
  /** The response status for each webhook, in order. */
  const answers: number[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      const { data } = JSON.parse(body) as { data: { event_type: string; id: string; payload: Payload } }
      events.push({ headers: request.headers, body, type: data.event_type, id: data.id, payload: data.payload })
      response.writeHead(answers.shift() ?? 200).end()
    })
  })
  const sockets = new WebSocketServer({ server, path: '/media' })
  sockets.on('connection', (socket) => streams.push(new Stream(socket)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const webhookUrl = `http://${address}/webhooks`
  const speak = () => Promise.resolve(recordingOf('please-try-call-later'))
  const simulator = await startSimulator({ clock, speak, webhookUrl, ...options })
  t.teardown(async () => {
    await simulator.close()
    for (const socket of sockets.clients) socket.terminate()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const ask = async (method: string, path: string, body?: object, key = simulator.apiKey) => {
    const answer = await fetch(simulator.baseUrl + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    return {
      status: answer.status,
      body: (await answer.json()) as { data: Record<string, unknown>; errors: unknown[] },
    }
  }
  return {
    clock,
    simulator,
    events,
    streams,
    answers,
    webhookUrl,
    streamUrl: `ws://${address}/media?token=t`,
    ask,
    /** Waits for an event with this type, and returns the newest. */
    async event(type: string, count = 1): Promise<Received> {
      await until(() => events.filter((event) => event.type === type).length >= count)
      return events.findLast((event) => event.type === type) as Received
    },
    types: () => events.map(({ type }) => type),
    /** Dials the number. Returns the leg's id. */
    async dial(to: string, more: object = {}): Promise<string> {
      const body = { connection_id: 'c', from: agentNumber, to, ...more }
      const answer = await ask('POST', '/calls', body)
      if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
      return answer.body.data['call_control_id'] as string
    },
    async act(id: string, action: string, body: object = {}) {
      return ask('POST', `/calls/${encodeURIComponent(id)}/actions/${action}`, body)
    },
    async stream(count = 1): Promise<Stream> {
      await until(() => streams.length >= count && (streams[count - 1] as Stream).format !== null)
      return streams[count - 1] as Stream
    },
  }
}

export const streamFields = (world: World, encoding: LineFormat['encoding'] = 'PCMU') => ({
  stream_url: world.streamUrl,
  stream_track: 'inbound_track',
  stream_codec: encoding,
  stream_bidirectional_mode: 'rtp',
  stream_bidirectional_codec: encoding,
  stream_bidirectional_sampling_rate: encoding === 'L16' ? 16_000 : 8000,
})

/** Lets time pass until the simulator has returned the first mark. By then all earlier audio was played. */
export async function settledMark(world: World, stream: Stream): Promise<void> {
  for (let i = 0; stream.of('mark').length === 0 && i < 200; i++) await world.clock.advance(100)
  await until(() => stream.of('mark').length > 0)
}

/** The customer's end of a media socket. */
export class Stream {
  readonly frames: Frame[] = []
  format: LineFormat | null = null
  isClosed = false
  readonly #socket: WebSocket

  constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', (data) => this.#receive(JSON.parse((data as Buffer).toString()) as Frame))
    socket.on('close', () => {
      this.isClosed = true
    })
  }

  #receive(frame: Frame): void {
    this.frames.push(frame)
    if (frame.event !== 'start') return
    const { media_format } = frame['start'] as { media_format: { encoding: LineFormat['encoding']; sample_rate: 8000 } }
    this.format = { encoding: media_format.encoding, sampleRateHz: media_format.sample_rate }
  }

  send(frame: object): void {
    this.#socket.send(JSON.stringify(frame))
  }

  sendRaw(data: string | Uint8Array): void {
    this.#socket.send(data)
  }

  /** Sends frames of 20 ms. */
  sendAudio(samples: Int16Array): void {
    const { encoding, sampleRateHz } = this.format as LineFormat
    const length = sampleRateHz / 50
    for (let at = 0; at < samples.length; at += length) {
      const part = samples.subarray(at, at + length)
      const bytes = Buffer.alloc(part.length * codecs[encoding].bytesPerSample)
      codecs[encoding].encode(part, bytes)
      this.send({ event: 'media', media: { payload: bytes.toString('base64') } })
    }
  }

  close(): void {
    this.#socket.close()
  }

  of(event: string): Frame[] {
    return this.frames.filter((frame) => frame.event === event)
  }

  /** All received audio. */
  audio(): Int16Array {
    const { encoding, sampleRateHz } = this.format as LineFormat
    const samples: number[] = []
    const frame = new Int16Array(sampleRateHz / 50)
    for (const { media } of this.of('media')) {
      const bytes = Buffer.from(media?.payload ?? '', 'base64')
      codecs[encoding].decode(bytes, bytes.length, frame)
      samples.push(...frame)
    }
    return Int16Array.from(samples)
  }
}
