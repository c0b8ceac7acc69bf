import type { OutputFormat } from '../../audio/format.ts'
import type { AttemptSignal } from '../dispatch/attempt-signal.ts'
import { begin, follow } from '../dispatch/follow.ts'
import { ProviderError } from '../ports/provider-error.ts'
import type { Tts, TtsRequest } from './tts.ts'

/** `audio/` implements it. Throws at once for formats that it cannot turn into one another. */
export type ConvertSpeech = (
  audio: AsyncIterable<Uint8Array>,
  from: OutputFormat,
  to: OutputFormat,
) => AsyncIterable<Uint8Array>

/** How the provider is asked: for one text, or for a sentence of a session, over a socket where it has one. */
export type SpeechMode = 'text' | 'session'

/** Resolves with the audio in the wanted format once its first chunk is here. Rejects with ProviderError. */
export async function openSpeech(
  convert: ConvertSpeech,
  tts: Tts | undefined,
  mode: SpeechMode,
  request: TtsRequest,
  call: AttemptSignal,
  idleMs: number,
): Promise<AsyncIterable<Uint8Array>> {
  if (!tts) throw new ProviderError('unsupported', { sent: false })
  const speech =
    mode === 'session' && tts.live
      ? await tts.live(request, call.abortSignal)
      : await tts.synthesize(request, call.abortSignal)
  const chunks = begin(call, speech.audio)
  const first = await firstAudio(chunks)
  try {
    return convert(follow(call, first, chunks, idleMs), speech.format, request.wanted)
  } catch (cause) {
    throw new ProviderError('unsupported', { sent: true, cause })
  }
}

/** A success with nothing in it is a failure. */
async function firstAudio(chunks: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  for (;;) {
    const next = await chunks.next()
    if (next.done) throw new ProviderError('empty', { sent: true })
    if (next.value.length > 0) return next.value
  }
}
