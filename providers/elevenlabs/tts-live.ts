/** WS /v1/text-to-speech/{voice}/stream-input. A socket serves one text, because the vendor ends it with the text. */
import type { Speech, TtsRequest } from '../../domain/speech/tts.ts'
import { classOfCloseCode, frameFailure } from '../wire/failures.ts'
import { type LiveTtsOptions, type LiveTtsProtocol, receiveSpeech, samplesOf } from '../wire/live-tts.ts'
import type { WarmRules } from '../wire/socket.ts'
import { type Output, outputFor } from './output-format.ts'
import { languageCode, voicePath, voiceSettings } from './tts.ts'
import { classOfSocketCode } from './wire.ts'

/** The vendor waits this long for text. Its default of 20 s would leave a warm socket little time. */
const inactivityS = 60

/** The text costs credit, so a socket that waits costs nothing. */
export const warmTts: WarmRules = { keepAlive: null, idleMsMax: inactivityS * 1000 - 10_000 }

export async function speakLive(options: LiveTtsOptions, request: TtsRequest, signal: AbortSignal): Promise<Speech> {
  const output = outputFor(request.wanted)
  const messages = messagesOf(request)
  const socket = await options.sockets.open(options.apiKey, { path: livePath(request, output) }, signal)
  const audio = receiveSpeech(socket, options, streamInputProtocol(options.apiKey), signal)
  for (const message of messages) socket.send(JSON.stringify(message))
  return { format: output.format, audio }
}

const streamInputProtocol = (apiKey: string | null): LiveTtsProtocol => ({
  frame(frame, queue) {
    const { error, audio, isFinal } = frame
    if (error !== undefined) throw frameFailure(classOfSocketCode(error), frame, apiKey)
    if (typeof audio === 'string') queue.push(samplesOf(audio))
    // Without credit this frame comes first and alone. The reader of the queue treats speech without audio as a
    // failure.
    if (isFinal === true) queue.end()
  },
  classOfClose: classOfCloseCode,
})

function livePath(request: TtsRequest, output: Output): string {
  const query = new URLSearchParams({
    model_id: request.model,
    output_format: output.name,
    inactivity_timeout: String(inactivityS),
    // The text is complete sentences, so the vendor need not wait for more text before it begins.
    auto_mode: 'true',
  })
  const language = languageCode(request)
  if (language !== undefined) query.set('language_code', language)
  return `${voicePath(request)}/stream-input?${query.toString()}`
}

/** The first message must be a blank, a text must end with a blank, and an empty text ends the stream. */
const messagesOf = (request: TtsRequest) => [
  { text: ' ', ...voiceSettings(request) },
  { text: `${request.text} `, flush: true },
  { text: '' },
]
