/** WS /tts-websocket: several streams at once, each up to its `terminated`. The socket stays open. */
import { decodeSamples, encodeSamples } from '../../../audio/pcm.ts'
import type { Cell, SeenRequest } from '../suite/matrix.ts'
import { pause, pieces, type StubSocket, sinePcm, slowMs } from '../suite/stub-server.ts'
import { errorCodes } from './stub-answers.ts'

type Start = { api_key?: string; model?: string; language?: string; voice?: string } & Form
type Form = { audio_format?: string; sample_rate?: number }
type Text = { text?: string; text_end?: boolean; cancel?: boolean; keep_alive?: boolean }
type Message = Start & Text & { stream_id?: string }

const rates = [8000, 16_000, 24_000, 44_100, 48_000]
const encodings: Record<string, { encoding: 'pcm_s16le' | 'pcm_f32le' | 'mulaw' | 'alaw'; rates: readonly number[] }> =
  {
    pcm_s16le: { encoding: 'pcm_s16le', rates },
    pcm_f32le: { encoding: 'pcm_f32le', rates },
    pcm_mulaw: { encoding: 'mulaw', rates: [8000] },
    pcm_alaw: { encoding: 'alaw', rates: [8000] },
  }

/** 200 ms in the requested format. */
export function spoken({ audio_format = '', sample_rate = 0 }: Form): Buffer {
  const pcm = sinePcm(sample_rate / 5, sample_rate)
  const encoding = encodings[audio_format]?.encoding ?? 'pcm_s16le'
  return encoding === 'pcm_s16le' ? pcm : Buffer.from(encodeSamples(decodeSamples(pcm, 'pcm_s16le'), encoding))
}

export function playSpeech(socket: StubSocket, request: SeenRequest, cell: Cell): void {
  const streams = new Map<string, Start>()
  const isSigned = request.headers['authorization']?.startsWith('Bearer ') === true
  const fail = (stream_id: string | undefined, error_code: number) => {
    const error_type = error_code === 400 ? 'invalid_request' : 'some_type'
    const at = stream_id === undefined ? {} : { stream_id }
    // The message contains the key, so an error that repeats the message fails the suite.
    const error_message = `the vendor says no to ${request.headers['authorization']}`
    socket.send({ ...at, error_code, error_type, error_message })
    if (stream_id !== undefined) end(stream_id)
  }
  const end = (stream_id: string) => {
    streams.delete(stream_id)
    socket.send({ stream_id, terminated: true })
  }
  const speak = async (stream_id: string, form: Form) => {
    const send = (bytes: Uint8Array, more: object = {}) =>
      socket.send({ stream_id, audio: Buffer.from(bytes).toString('base64'), ...more })
    const isSilent = cell === 'empty' || cell === 'header_only'
    if (cell === 'header_only' || cell === 'slow_first_byte') send(Buffer.alloc(0))
    if (cell === 'slow_first_byte') await pause(slowMs)
    for (const [at, piece] of (isSilent ? [] : pieces(spoken(form), cell)).entries()) {
      if (!streams.has(stream_id)) return
      if (at === 3 && cell === 'cut') return socket.close(1000)
      if (at === 3 && cell === 'reset') return socket.reset()
      if (at === 3 && cell === 'garbage') return socket.send('{"stream_id": "te')
      if (at === 3 && cell === 'error_mid') return fail(stream_id, 503)
      send(piece)
      await new Promise(setImmediate)
    }
    send(Buffer.alloc(0), { audio_end: true })
    end(stream_id)
  }
  socket.listen({
    text(text) {
      const { stream_id, ...message } = JSON.parse(text) as Message
      if (message.keep_alive) return
      if (stream_id === undefined) return fail(undefined, 400)
      const open = streams.get(stream_id)
      if (message.cancel) return open ? end(stream_id) : undefined
      if (open) return message.text_end ? void speak(stream_id, open) : undefined
      const complaint = errorCodes[cell] ?? complaintAbout(message, isSigned)
      if (complaint !== null) return fail(stream_id, complaint)
      streams.set(stream_id, message)
    },
  })
}

function complaintAbout(start: Start, isSigned: boolean): number | null {
  if (!isSigned && !start.api_key) return 401
  const known = encodings[start.audio_format ?? '']
  const isWhole = start.model && start.language && start.voice && known?.rates.includes(start.sample_rate ?? 0)
  return isWhole ? null : 400
}
