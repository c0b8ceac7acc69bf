import type { Row } from '../catalog/catalog.ts'
import { spoken } from '../catalog/language.ts'
import type { DispatchDeps } from '../dispatch/request.ts'
import type { Capability } from '../ports/model.ts'
import type { StreamTranscript, SttStreamRequest } from '../ports/stt.ts'
import { type Ask, baseAsk } from '../routing/ask.ts'
import type { CheckTranscribeStream, Hint, TranscribeStreamInput } from './stream.ts'

const hints = ['keywords', 'prompt'] as const satisfies readonly Hint[]

/** Returns the input's hints that this model does not support. */
export function ignoredHints({ model: { capabilities } }: Row, input: TranscribeStreamInput): Hint[] {
  return hints.filter((hint) => input[hint]?.length && !capabilities[hint])
}

type AskInput = Pick<
  TranscribeStreamInput,
  'caller' | 'routing' | 'language' | 'detectsLanguage' | 'strictHints' | 'audio' | 'words' | Hint
>

/** Returns the ask for a stream. Throws the fault `bad_language_tag`. */
export function streamAsk(input: AskInput): Ask {
  const { caller, routing, language, detectsLanguage = false, audio } = input
  const needs: Capability[] = ['streaming']
  if (input.words) needs.push('word_timestamps')
  if (input.strictHints) needs.push(...hints.filter((hint) => input[hint]?.length))
  return { ...baseAsk(caller, 'stt', routing, language), detectsLanguage, path: 'stream', needs, audio: { ...audio } }
}

/** Makes the check that some model can serve a stream, before the stream is opened. */
export function createCheckTranscribeStream({ chooser }: Pick<DispatchDeps, 'chooser'>): CheckTranscribeStream {
  return (input) => void chooser.chooseSome(streamAsk(input))
}

export function streamRequest(row: Row, input: TranscribeStreamInput, ask: Ask): SttStreamRequest {
  const { audio, interimResults, words, endpointingMs, keywords, prompt } = input
  const { capabilities } = row.model
  return {
    model: row.model.id,
    audio,
    interimResults,
    words,
    ...(ask.language && !ask.detectsLanguage && { language: spoken(row.model.languages, ask.language) }),
    ...(endpointingMs !== undefined && { endpointingMs }),
    ...(keywords?.length && capabilities.keywords && { keywords }),
    ...(prompt && capabilities.prompt && { prompt }),
  }
}

/**
 * Adds `offsetMs` to a transcript's times. The offset is the position in the stream's audio where the audio for this
 * provider begins.
 */
export function delayed(transcript: StreamTranscript, offsetMs: number): StreamTranscript {
  const { startMs, endMs, words } = transcript
  const shifted = { ...transcript, startMs: startMs + offsetMs, endMs: endMs + offsetMs }
  if (words === undefined) return shifted
  const shift = (word: (typeof words)[number]) => {
    return { ...word, startMs: word.startMs + offsetMs, endMs: word.endMs + offsetMs }
  }
  return { ...shifted, words: words.map(shift) }
}
