/** Live recognition over wss /v2: StartRecognition, audio, EndOfStream, EndOfTranscript. */
import type { SttStream, SttStreamRequest } from '../../domain/speech/stt.ts'
import { detectedLanguage, vendorTag } from '../language-tags.ts'
import { protocolError } from '../wire/failures.ts'
import { isObject, type JsonObject, milliseconds } from '../wire/json.ts'
import { SttSocket, type SttSocketParts, type SttVendor } from '../wire/live-stt.ts'
import { type Piece, Utterances } from '../wire/utterances.ts'
import { classOfType } from './wire.ts'

/** Resolves after RecognitionStarted: audio that comes before it is refused. */
export async function openStream(
  request: SttStreamRequest,
  start: JsonObject,
  parts: SttSocketParts,
): Promise<SttStream> {
  const stream = new RecognitionStream(request, parts)
  stream.start(start)
  await stream.opened
  return stream
}

class RecognitionStream implements SttStream, SttVendor {
  readonly #socket: SttSocket
  readonly #utterances: Utterances
  /** Between two words of the language; nothing in those that write none. */
  #delimiter = ' '
  #audioFrames = 0

  constructor(request: SttStreamRequest, parts: SttSocketParts) {
    this.#socket = new SttSocket(parts, this)
    this.#utterances = new Utterances(request, this.#socket.telling)
  }

  start(message: JsonObject): void {
    this.#socket.send(JSON.stringify(message))
  }

  get opened(): Promise<void> {
    return this.#socket.opened
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedBytes
  }

  audio(bytes: Uint8Array): void {
    if (!this.#socket.isListening || bytes.length === 0) return
    this.#audioFrames++
    this.#socket.send(bytes)
  }

  flush(): void {
    if (this.#socket.isListening) this.#socket.send('{"message":"ForceEndOfUtterance"}')
  }

  end(): void {
    // A wrong count would leave the last frames unheard.
    this.#socket.end(JSON.stringify({ message: 'EndOfStream', last_seq_no: this.#audioFrames }))
  }

  close(): void {
    this.#socket.close()
  }

  /** Every failure is told in an Error message before the close. */
  classOfClose(): null {
    return null
  }

  frame(frame: JsonObject): void {
    switch (frame['message']) {
      case 'RecognitionStarted':
        return this.#listen(frame['language_pack_info'])
      case 'AddPartialTranscript':
        return this.#utterances.guess(this.#piecesOf(frame))
      case 'AddTranscript':
        return this.#utterances.settle(this.#piecesOf(frame))
      case 'EndOfUtterance':
        return this.#utterances.end()
      case 'EndOfTranscript':
        this.#utterances.finish()
        return this.#socket.finished()
      case 'Error':
        return this.#socket.fail(classOfType(frame['type']) ?? 'server', frame)
    }
  }

  #listen(languagePack: unknown): void {
    const delimiter = isObject(languagePack) ? languagePack['word_delimiter'] : undefined
    if (typeof delimiter === 'string') this.#delimiter = delimiter
    this.#socket.listens()
  }

  #piecesOf({ results }: JsonObject): Piece[] {
    if (!Array.isArray(results)) throw protocolError('a transcript without its results')
    const pieces: Piece[] = []
    let isAttached = false
    for (const result of results.filter(isObject)) {
      const said = Array.isArray(result['alternatives']) ? (result['alternatives'] as unknown[])[0] : undefined
      if (!isObject(said) || typeof said['content'] !== 'string') continue
      const { type, attaches_to: attachesTo } = result
      const joins = isAttached || attachesTo === 'previous' || attachesTo === 'both'
      isAttached = attachesTo === 'next' || attachesTo === 'both'
      pieces.push({
        text: joins ? said['content'] : this.#delimiter + said['content'],
        joins,
        startMs: timeOf(result['start_time']),
        endMs: timeOf(result['end_time']),
        // How sure it is of a comma says nothing of the words.
        ...(type !== 'punctuation' && typeof said['confidence'] === 'number' && { confidence: said['confidence'] }),
        ...detectedLanguage(said['language']),
      })
    }
    return pieces
  }
}

function timeOf(seconds: unknown): number {
  if (typeof seconds !== 'number') throw protocolError('a word without its time')
  return milliseconds(seconds)
}

/** By itself this vendor ends no utterance. Half a second is what it advises for conversations, two seconds the longest that it takes. */
const silenceS = 0.5
const silenceSMax = 2

/** StartRecognition, the first frame, holds all of the configuration. `language` is one that the model has. */
export function startRecognition(request: SttStreamRequest, language: string): JsonObject {
  const { model, audio, interimResults, endpointingMs, keywords } = request
  const trigger = endpointingMs === undefined ? silenceS : Math.min(endpointingMs / 1000, silenceSMax)
  return {
    message: 'StartRecognition',
    audio_format: { type: 'raw', encoding: audio.encoding, sample_rate: audio.sampleRateHz },
    transcription_config: {
      ...spoken(language),
      model,
      enable_partials: interimResults,
      conversation_config: { end_of_utterance_silence_trigger: trigger },
      ...(keywords?.length && { additional_vocab: keywords.map((content) => ({ content })) }),
    },
  }
}

/** Mandarin goes by its own code here. A region only changes how English is written. */
function spoken(language: string): JsonObject {
  const base = language.split('-')[0] ?? language
  const spelt = vendorTag('speechmatics', base)
  return base === language ? { language: spelt } : { language: spelt, output_locale: language }
}
