import type { OutputFormat } from '../../audio/format.ts'
import { opusPackets } from '../../audio/ogg-packets.ts'
import type { AttemptSignal } from '../dispatch/attempt-signal.ts'
import { begin, follow } from '../dispatch/provider-stream.ts'
import { ProviderError } from '../ports/provider-error.ts'
import type { Tts, TtsRequest } from '../ports/tts.ts'

/**
 * Converts a provider's audio to another format; `audio/` implements this. If it cannot convert between the two
 * formats, it throws at once. `live` is true for speech in a stream, which is converted while it is played. `owner` is
 * the organization that the work is for.
 */
export type ConvertSpeech = (
  audio: AsyncIterable<Uint8Array>,
  from: OutputFormat,
  to: OutputFormat,
  options: { live: boolean; owner?: string | undefined },
) => AsyncIterable<Uint8Array>

/**
 * `text`: a whole text is spoken. `stream`: a sentence in a stream is spoken. In a stream the speech is requested over
 * a WebSocket if the provider has one, and Opus arrives as bare packets without the Ogg container.
 */
export type SpeechMode = 'text' | 'stream'

/**
 * Opens a provider's speech. Resolves with the audio in the output format when its first chunk has arrived. Rejects
 * with ProviderError.
 */
export async function openSpeech(
  convert: ConvertSpeech,
  tts: Tts | undefined,
  mode: SpeechMode,
  request: TtsRequest,
  signal: AttemptSignal,
  idleMs: number,
): Promise<AsyncIterable<Uint8Array>> {
  if (!tts) throw new ProviderError('unsupported', { sent: false })
  const speech =
    mode === 'stream' && tts.live
      ? await tts.live(request, signal.abortSignal)
      : await tts.synthesize(request, signal.abortSignal)
  const isPackets = mode === 'stream' && speech.format.encoding === 'opus'
  const chunks = begin(signal, isPackets ? opusPackets(speech.audio) : speech.audio)
  const first = await firstAudio(chunks)
  try {
    return convert(follow(signal, first, chunks, idleMs), speech.format, request.outputFormat, {
      live: mode === 'stream',
      owner: signal.owner,
    })
  } catch (cause) {
    throw new ProviderError('unsupported', { sent: true, cause })
  }
}

/** Returns the first chunk with audio. An answer without audio is a failure. */
async function firstAudio(chunks: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  for (;;) {
    const next = await chunks.next()
    if (next.done) throw new ProviderError('empty', { sent: true })
    if (next.value.length > 0) return next.value
  }
}
