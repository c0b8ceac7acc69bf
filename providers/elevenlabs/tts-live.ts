/** WS /v1/text-to-speech/{voice}/stream-input: one text a socket, since the vendor ends it with the text. */
import type { Clock } from '../../domain/ports/system.ts'
import type { Speech, TtsRequest } from '../../domain/speech/tts.ts'
import type { OutboundLimits } from '../../runtime/outbound/limits.ts'
import { jsonFrames } from '../wire/json-frames.ts'
import type { SocketTransport, Standby } from '../wire/socket.ts'
import { SpeechQueue } from '../wire/speech-queue.ts'
import { type Output, outputFor } from './output-format.ts'
import { languageCode, voicePath, voiceSettings } from './tts.ts'
import { closedEarly, socketFailure } from './wire.ts'

type LiveOptions = { apiKey: string | null; limits: OutboundLimits; clock: Clock }

/** How long the vendor is told to wait for text. Its own 20 s would leave a waiting socket little time. */
const inactivityS = 60

/** Credit is used by the text: a socket that waits costs nothing. */
export const speechStandby: Standby = { keepAlive: null, idleMsMax: inactivityS * 1000 - 10_000 }

export async function speakLive(
  sockets: SocketTransport,
  request: TtsRequest,
  { apiKey, limits, clock }: LiveOptions,
  signal: AbortSignal,
): Promise<Speech> {
  const output = outputFor(request.wanted)
  const messages = messagesOf(request)
  const socket = await sockets.open(apiKey, { path: livePath(request, output) }, signal)
  const queue = new SpeechQueue({
    clock,
    limits,
    signal,
    over: () => socket.close(),
  })
  socket.listen(
    jsonFrames({
      frame(frame) {
        if (frame['error'] !== undefined) throw socketFailure(frame['error'], frame, apiKey)
        if (typeof frame['audio'] === 'string') queue.push(Buffer.from(frame['audio'], 'base64'))
        // Out of credit this comes first and alone; that nothing was said is noticed by who reads.
        if (frame['isFinal'] === true) queue.end()
      },
      failed: (error) => queue.fail(error),
      closed: (code, reason) => queue.fail(closedEarly(code, reason, apiKey)),
    }),
  )
  for (const message of messages) socket.send(JSON.stringify(message))
  return { format: output.format, audio: queue }
}

function livePath(request: TtsRequest, output: Output): string {
  const query = new URLSearchParams({
    model_id: request.model,
    output_format: output.name,
    inactivity_timeout: String(inactivityS),
    // The text is whole sentences, so the vendor need not wait for more before it begins.
    auto_mode: 'true',
  })
  const language = languageCode(request)
  if (language !== undefined) query.set('language_code', language)
  return `${voicePath(request)}/stream-input?${query.toString()}`
}

/** The first must hold a blank, text must end with one, and an empty text ends it all. */
const messagesOf = (request: TtsRequest) => [
  { text: ' ', ...voiceSettings(request) },
  { text: `${request.text} `, flush: true },
  { text: '' },
]
