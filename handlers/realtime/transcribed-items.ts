/**
 * Turns one recognition stream's transcripts into items, in the events of OpenAI's protocol:
 *
 *   utterance  ─► speech_started ─► delta … ─► speech_stopped ─► committed ─► item events ─► completed
 *
 * An item's deltas add up to its transcript. Without turn detection, transcripts are gathered until the client commits.
 */
import type { StreamTranscript } from '../../domain/ports/stt.ts'
import type { Fault } from '../../domain/records/fault.ts'
import { AgreedWords } from '../../domain/speech/agreed-words.ts'
import type { TranscriptionSink } from '../../domain/speech/stream.ts'
import { itemOf, transcription } from './compatible-events.ts'

/** The socket that sends the items' events. */
export interface ItemSocket {
  send(event: object): void
  /** True if the client reads the protocol's beta version, which has one event for a new item. */
  readonly isBeta: boolean
  newItemId(): string
  /** Returns the previously committed item's id, and remembers `itemId` for the next call. */
  committed(itemId: string): string | null
  /** Is called when the items' deadline may have changed. */
  itemsChanged(items: TranscribedItems): void
  itemsEnded(items: TranscribedItems): void
  itemsFailed(items: TranscribedItems, fault: Fault): void
}

export class TranscribedItems implements TranscriptionSink {
  readonly #socket: ItemSocket
  readonly #detectsTurns: boolean
  /**
   * The milliseconds of audio before this stream. They are added to its times, because a stream's times begin at its
   * start.
   */
  readonly #earlierMs: number
  #isReady = false
  /** The number of commits whose last transcript has not arrived yet. */
  #commits = 0
  #words = new AgreedWords()
  /** The current item's id. Null until the first event names the item. */
  #itemId: string | null = null
  #isSpeaking = false
  #startMs = 0
  #endMs = 0

  constructor(socket: ItemSocket, detectsTurns: boolean, earlierMs: number) {
    this.#socket = socket
    this.#detectsTurns = detectsTurns
    this.#earlierMs = earlierMs
  }

  /** True from the start of speech until its item is completed. */
  get isSpeaking(): boolean {
    return this.#isSpeaking
  }

  get waitsForCommit(): boolean {
    return this.#commits > 0
  }

  /** True once a provider's stream is open. Before this no transcript can arrive, and the domain limits the wait. */
  get isReady(): boolean {
    return this.#isReady
  }

  commit(): void {
    this.#commits += 1
  }

  /** Completes all items with their text so far. */
  completeAll(): void {
    while (this.#commits > 0) this.complete()
    if (this.#isSpeaking) this.complete()
  }

  ready(): void {
    // No event is sent, because the protocol has no event to name the provider.
    this.#isReady = true
    this.#socket.itemsChanged(this)
  }

  speechStarted(startMs: number): void {
    if (this.#isSpeaking) return
    this.#isSpeaking = true
    this.#startMs = this.#earlierMs + startMs
    this.#endMs = this.#startMs
    if (!this.#detectsTurns) return
    const audioStartMs = Math.round(this.#startMs)
    this.#socket.send({
      type: 'input_audio_buffer.speech_started',
      audio_start_ms: audioStartMs,
      item_id: this.#idOfItem(),
    })
    this.#socket.itemsChanged(this)
  }

  transcript({ text, isFinal, speechFinal, startMs, endMs }: StreamTranscript): void {
    this.speechStarted(startMs)
    this.#endMs = this.#earlierMs + endMs
    this.#sendDelta(isFinal ? this.#words.final(text) : this.#words.interim(text))
    if (!isFinal) return
    const endsUtterance = this.#detectsTurns && speechFinal
    if (endsUtterance || this.#commits > 0) this.complete()
  }

  ended(): void {
    this.completeAll()
    this.#socket.itemsEnded(this)
  }

  failed(fault: Fault): void {
    this.#socket.itemsFailed(this, fault)
  }

  /** Completes the current item. If no speech has begun, the item is empty. */
  complete(): void {
    const socket = this.#socket
    const item_id = this.#idOfItem()
    if (this.#detectsTurns && this.#isSpeaking)
      socket.send({ type: 'input_audio_buffer.speech_stopped', audio_end_ms: Math.round(this.#endMs), item_id })
    this.#sendItem(item_id)
    socket.send({
      type: `${transcription}.completed`,
      item_id,
      content_index: 0,
      transcript: this.#words.text,
      usage: { type: 'duration', seconds: this.#isSpeaking ? Math.max(0, this.#endMs - this.#startMs) / 1000 : 0 },
    })
    this.#words = new AgreedWords()
    this.#itemId = null
    this.#isSpeaking = false
    this.#commits = Math.max(0, this.#commits - 1)
    socket.itemsChanged(this)
  }

  /** Notifies the client that the current item gets no transcript. */
  failItem(error: object): void {
    if (!this.#isSpeaking) return
    this.#socket.send({ type: `${transcription}.failed`, item_id: this.#idOfItem(), content_index: 0, error })
  }

  #sendItem(item_id: string): void {
    const socket = this.#socket
    const previous_item_id = socket.committed(item_id)
    const item = itemOf(item_id)
    socket.send({ type: 'input_audio_buffer.committed', item_id, previous_item_id })
    if (socket.isBeta) return socket.send({ type: 'conversation.item.created', previous_item_id, item })
    socket.send({ type: 'conversation.item.added', previous_item_id, item })
    socket.send({ type: 'conversation.item.done', previous_item_id, item })
  }

  #sendDelta(delta: string): void {
    if (delta === '') return
    this.#socket.send({ type: `${transcription}.delta`, item_id: this.#idOfItem(), content_index: 0, delta })
  }

  #idOfItem(): string {
    this.#itemId ??= this.#socket.newItemId()
    return this.#itemId
  }
}
