/** Sockets that close, break, refuse or stall, from the scripted server. */
import { WebSocket } from 'ws'
import {
  ApiError,
  createRealtimeClient,
  ProtocolError,
  type RealtimeClient,
  RequestTimeoutError,
  SocketClosedError,
  type SocketConstructor,
} from '../../../../generated/clients/typescript/realtime.ts'
import { apiKey, type Steps, variable } from './settings.ts'

const constructor = WebSocket as unknown as SocketConstructor
const timeoutMs = 300
const [frames, frameBytes] = [32, 1024 * 1024]

export const socketFaultSteps: Steps = {
  socket_closes: () => each(['normal', 'away', 'empty', 'cut', 'reason', 'later', 'frame', 'mild'], closeOf),
  socket_frames: () => each(['text', 'list', 'null', 'large', 'largest'], frameErrorOf),
  async socket_openings() {
    const refused = await at('refused')
      .transcribeStream()
      .opened.catch((error: unknown) => error)
    const moved = await at('moved')
      .transcribeStream()
      .opened.catch((error: unknown) => error)
    const late = await at('late', { timeoutMs })
      .transcribeStream()
      .opened.catch((error: unknown) => error)
    if (!(refused instanceof ApiError)) throw refused
    return {
      moved: moved instanceof ApiError ? moved.status : String(moved),
      refused: [refused.status, refused.code],
      late: late instanceof RequestTimeoutError ? 'timeout' : String(late),
    }
  },
  async socket_prefix() {
    const { reason } = await at('offered', { headerPrefix: 'Acme' }).transcribeStream().closed
    return { offered: reason }
  },
  async socket_late_send() {
    const socket = at('normal').transcribeStream()
    await socket.closed
    const error: unknown = await socket.send({ type: 'end' }).catch((thrown: unknown) => thrown)
    return { close: error instanceof SocketClosedError ? error.closeCode : String(error) }
  },
  async socket_slow() {
    const socket = at('slow').transcribeStream()
    await socket.opened
    for (let sent = 0; sent < frames; sent++) {
      await socket.sendBytes(new Uint8Array(frameBytes))
      if (socket.bufferedBytes > 8 * frameBytes) throw new Error('the client buffers too much')
    }
    await socket.send({ type: 'end' })
    return { bytes: Number((await socket.closed).reason) }
  },
}

function at(fault: string, options: { timeoutMs?: number; headerPrefix?: string } = {}): RealtimeClient {
  const baseUrl = `${variable('PARLEY_SCRIPTED_URL')}/${fault}`
  return createRealtimeClient({ baseUrl, apiKey, WebSocket: constructor, ...options })
}

async function each(faults: string[], run: (fault: string) => Promise<unknown>): Promise<object> {
  const results: Record<string, unknown> = {}
  for (const fault of faults) results[fault] = await run(fault)
  return results
}

async function closeOf(fault: string): Promise<unknown> {
  const { error } = await at(fault).transcribeStream().closed
  if (error === null) return null
  if (!(error instanceof SocketClosedError)) throw error
  return [error.closeCode, error.reason, error.code, error.retryable]
}

async function frameErrorOf(fault: string): Promise<string | null> {
  const { error } = await at(fault).synthesizeStream().closed
  return error === null ? null : error instanceof ProtocolError ? 'protocol' : String(error)
}
