/**
 * Live recognition over wss /v2. We send `StartRecognition`, audio and `EndOfStream`; the vendor ends with
 * `EndOfTranscript`.
 */
import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { SttStreamRequest } from '../../domain/ports/stt.ts'
import { detectedLanguage, vendorTag } from '../vendors/language-tags.ts'
import { protocolError } from '../wire/failures.ts'
import { isObject, type JsonObject, milliseconds, objectsOf } from '../wire/json.ts'
import type { LiveSttProtocol, LiveSttVendor, ProtocolStream } from '../wire/live-stt.ts'
import { type Piece, Utterances } from '../wire/utterances.ts'
import { classOfType } from './wire.ts'

/**
 * Throws ProviderError `unsupported` without a language: the vendor does not detect languages, and the transcript would
 * be useless with a wrong language.
 */
export function liveVendor(request: SttStreamRequest): LiveSttVendor {
  if (request.language === undefined) throw new ProviderError('unsupported', { sent: false, cause: 'no language' })
  return {
    path: '/v2',
    start: JSON.stringify(startRecognition(request, request.language)),
    protocol: (stream) => new RecognitionProtocol(request, stream),
  }
}

class RecognitionProtocol implements LiveSttProtocol {
  readonly #stream: ProtocolStream
  readonly #utterances: Utterances
  /** The text between two words. Empty if the language is written without spaces. */
  #delimiter = ' '
  #audioFrames = 0

  constructor(request: SttStreamRequest, stream: ProtocolStream) {
    this.#stream = stream
    this.#utterances = new Utterances(request, stream)
  }

  audio(bytes: Uint8Array): Uint8Array {
    this.#audioFrames++
    return bytes
  }

  flush(): string {
    return '{"message":"ForceEndOfUtterance"}'
  }

  /**
   * Returns the last message. It states the number of audio frames, because with a wrong number the vendor would not
   * transcribe the last frames.
   */
  end(): string {
    return JSON.stringify({ message: 'EndOfStream', last_seq_no: this.#audioFrames })
  }

  /** Returns null, because the vendor reports every failure in an `Error` message before it closes the socket. */
  classOfClose(): null {
    return null
  }

  frame(frame: JsonObject): void {
    switch (frame['message']) {
      case 'RecognitionStarted':
        return this.#recognitionStarted(frame['language_pack_info'])
      case 'AddPartialTranscript':
        return this.#utterances.setInterim(this.#piecesOf(frame))
      case 'AddTranscript':
        return this.#utterances.addFixed(this.#piecesOf(frame))
      case 'EndOfUtterance':
        return this.#utterances.end()
      case 'EndOfTranscript':
        this.#utterances.finish()
        return this.#stream.finished()
      case 'Error':
        return this.#stream.fail(classOfType(frame['type']) ?? 'server', frame)
    }
  }

  /** Handles `RecognitionStarted` and opens the stream for audio. The vendor refuses audio before this message. */
  #recognitionStarted(languagePack: unknown): void {
    const delimiter = isObject(languagePack) ? languagePack['word_delimiter'] : undefined
    if (typeof delimiter === 'string') this.#delimiter = delimiter
    this.#stream.ready()
  }

  #piecesOf({ results }: JsonObject): Piece[] {
    if (!Array.isArray(results)) throw protocolError('a transcript without its results')
    const pieces: Piece[] = []
    let isAttached = false
    for (const result of objectsOf(results)) {
      const best = objectsOf(result['alternatives'])[0]
      if (typeof best?.['content'] !== 'string') continue
      const { type, attaches_to: attachesTo } = result
      const joins = isAttached || attachesTo === 'previous' || attachesTo === 'both'
      isAttached = attachesTo === 'next' || attachesTo === 'both'
      pieces.push({
        text: joins ? best['content'] : this.#delimiter + best['content'],
        joins,
        startMs: timeOf(result['start_time']),
        endMs: timeOf(result['end_time']),
        // A punctuation mark's confidence is ignored, because it does not show how well the words were recognized.
        ...(type !== 'punctuation' && typeof best['confidence'] === 'number' && { confidence: best['confidence'] }),
        ...detectedLanguage(best['language']),
      })
    }
    return pieces
  }
}

function timeOf(seconds: unknown): number {
  if (typeof seconds !== 'number') throw protocolError('a word without its time')
  return milliseconds(seconds)
}

/**
 * The default end-point silence. Without this field the vendor ends no utterance. The vendor recommends half a second
 * for conversations and allows two seconds.
 */
const silenceS = 0.5
const silenceSMax = 2

/**
 * Returns `StartRecognition`, the first message. It holds the whole configuration. The model must support `language`.
 */
export function startRecognition(request: SttStreamRequest, language: string): JsonObject {
  const { model, audio, interimResults, endpointingMs, keywords } = request
  const trigger = endpointingMs === undefined ? silenceS : Math.min(endpointingMs / 1000, silenceSMax)
  return {
    message: 'StartRecognition',
    audio_format: { type: 'raw', encoding: audio.encoding, sample_rate: audio.sampleRateHz },
    transcription_config: {
      ...languageFields(language),
      model,
      enable_partials: interimResults,
      conversation_config: { end_of_utterance_silence_trigger: trigger },
      ...(keywords?.length && { additional_vocab: keywords.map((content) => ({ content })) }),
    },
  }
}

/**
 * Returns the language's fields. For Mandarin the vendor uses a special code. A region changes only the spelling, and
 * only for English.
 */
function languageFields(language: string): JsonObject {
  const base = language.split('-')[0] ?? language
  const code = vendorTag('speechmatics', base)
  return base === language ? { language: code } : { language: code, output_locale: language }
}
