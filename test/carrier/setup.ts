/** Opens carrier streams over real sockets, and acts as their carrier. */
import type { Test } from 'tap'
import WebSocket from 'ws'
import type { ExpectedLeg, StreamFailure } from '../../domain/ports/leg-media.ts'
import type { MediaEndpoint } from '../../domain/ports/phone-line.ts'
import { ExpectedLegs } from '../../handlers/carrier/expected-legs.ts'
import { mountCarrierStreams } from '../../handlers/carrier/streams.ts'
import type { EdgeQuotaOptions, RelaySettings } from '../../runtime/engine/options.ts'
import { TestClock } from '../clock.ts'
import { start, until } from '../http/harness.ts'
import { RecordingSink } from '../session/media-harness.ts'
import { wholeProcess } from '../time/quiet.ts'

export const legId = 'leg_0198c0de-7c1b-7a4e-9b1d-3a5f0c2e4d6b'
export const streamId = '1edb94f9-7ef0-4150-b502-e0ebadfd9491'

type Frame = { event: string; streamSid?: string; media?: { payload: string }; mark?: { name: string } }

/** The frame `start` in the spellings of two carriers, snake_case and camelCase. */
export const starts = {
  snake: (encoding: string, sample_rate: number) => ({
    event: 'start',
    sequence_number: '1',
    stream_id: streamId,
    start: { call_control_id: 'v3:abc', client_state: '', media_format: { encoding, sample_rate, channels: 1 } },
  }),
  camel: (encoding: string, sampleRate: number) => ({
    event: 'start',
    sequenceNumber: '1',
    streamSid: streamId,
    start: { callSid: 'CA1', tracks: ['inbound'], mediaFormat: { encoding, sampleRate, channels: 1 } },
  }),
}

/** The carrier's side of a stream. */
export class CarrierSocket {
  readonly socket: WebSocket
  readonly frames: Frame[] = []
  readonly closed: Promise<number>
  #chunk = 0

  constructor(url: string) {
    this.socket = new WebSocket(url)
    this.socket.on('message', (data: Buffer) => this.frames.push(JSON.parse(data.toString()) as Frame))
    this.socket.on('error', () => {})
    this.closed = new Promise((resolve) => this.socket.once('close', resolve))
  }

  send(frame: object): void {
    this.socket.send(JSON.stringify(frame))
  }

  media(payload: Uint8Array, chunk = ++this.#chunk, track = 'inbound'): void {
    const base64 = Buffer.from(payload).toString('base64')
    this.send({
      event: 'media',
      stream_id: streamId,
      media: { track, chunk: String(chunk), timestamp: '1', payload: base64 },
    })
  }

  /** Returns the received audio. */
  payloads(): Buffer {
    return Buffer.concat(this.frames.flatMap(({ media }) => (media ? [Buffer.from(media.payload, 'base64')] : [])))
  }

  of(event: string): Frame[] {
    return this.frames.filter((frame) => frame.event === event)
  }
}

export async function serveStreams(
  t: Test,
  {
    line8k = true,
    ownerId = 'one',
    relay = null,
    edgeQuota = { requests: 0, windowS: 300, trustedProxies: [], addressesMax: 1000 },
  }: { line8k?: boolean; ownerId?: string; relay?: RelaySettings | null; edgeQuota?: EdgeQuotaOptions } = {},
) {
  const clock = new TestClock()
  const logged: object[] = []
  const log = { info: () => {}, warn: (fields: object) => void logged.push(fields), error: () => {} }
  const address = { url: '' }
  const legs = new ExpectedLegs({ ownerId, addressFor: () => address.url, rateHz: line8k ? 8000 : 16_000 })
  const settings = { host: null, headerPrefix: 'Service', corsOrigins: [], log, count: () => {} }
  const server = await start([], { sockets: [mountCarrierStreams(settings, { legs, clock })], relay, edgeQuota })
  t.teardown(() => server.stop())
  address.url = server.url.replace('http', 'ws')
  const failed: StreamFailure[] = []
  const sinks: RecordingSink[] = []
  const names: (string | undefined)[] = []
  const expect = (sampleRateHz: ExpectedLeg['sampleRateHz'] = 16_000): MediaEndpoint =>
    legs.expect({
      legId,
      organizationId: 'org_1',
      line: 'carrier',
      sampleRateHz,
      joined: (transport, carrierLegId) => {
        names.push(carrierLegId)
        sinks.push(new RecordingSink(transport))
        return sinks.at(-1)!
      },
      failed: (reason) => failed.push(reason),
    })
  return {
    server,
    clock,
    legs,
    logged,
    failed,
    sinks,
    /** The carrier's leg ids, as the streams reported them. */
    names,
    expect,
    dial: ({ url, token }: MediaEndpoint) => new CarrierSocket(`${url}?token=${token}`),
    /** Opens a stream and sends its frame `start`. */
    async begin(frame: object, sampleRateHz?: ExpectedLeg['sampleRateHz']) {
      const { url, token } = expect(sampleRateHz)
      const carrier = new CarrierSocket(`${url}?token=${token}`)
      await opened(carrier)
      carrier.send({ event: 'connected', version: '1.0.0' })
      carrier.send(frame)
      const count = sinks.length
      await until(() => sinks.length > count)
      return { carrier, sink: sinks.at(-1)! }
    },
  }
}

export function opened({ socket }: CarrierSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve())
    socket.once('unexpected-response', (_request, { statusCode }) => reject(new Error(String(statusCode))))
  })
}

/** Waits until all frames in this process have arrived. A test can then assert that nothing was sent. */
export const quiet = () => wholeProcess.settled()
