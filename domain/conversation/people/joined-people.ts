/**
 * Handles the people who join a conversation. Each person has a media channel, receives all other voices, and is
 * recorded and transcribed. The agent is silent while a person who has sent audio is in the call.
 *
 *   caller ──┐                 ┌──► caller: the agent and the people
 *   agent  ──┼─► voice mixes ──┤
 *   people ──┘                 └──► each person: all but themselves
 *
 * While the caller waits on hold, people receive silence and their voices are not passed on. They are not recorded or
 * transcribed either, because the people may talk about the caller, and their words must reach neither the caller nor
 * the recording.
 */
import type { Route } from '../../dispatch/request.ts'
import type { MediaSink, MediaTransport, SessionEvent } from '../../ports/media.ts'
import { frameMs } from '../../ports/media.ts'
import type { Fault } from '../../records/fault.ts'
import type { CallLog } from '../parts/call-log.ts'
import type { StageEvents } from '../parts/conversation-events.ts'
import type { RecordedVoice } from '../parts/deps.ts'
import type { JoinedPerson } from '../parts/live-call.ts'
import type { Paced, Pacer } from '../parts/pacer.ts'
import { isHopeless } from '../parts/stage-retries.ts'
import { MediaLine } from '../speaking/media-line.ts'
import { VoiceMix } from '../speaking/voice-mix.ts'
import type { TurnRecord } from '../turns/turn-record.ts'
import type { Turns } from '../turns/turns.ts'
import type { SaidTurn } from '../turns/user-turn.ts'
import { JoinedVoice, type JoinedVoiceDeps } from './joined-voice.ts'

/** The maximum number of people who may join a call, fixed in the contract. */
export const joinedMax = 4

type PersonDeps = JoinedVoiceDeps & {
  pacer: Pacer
  callLog: CallLog
  record: TurnRecord
  turns: Pick<Turns, 'note'>
  /** Adds a text to the transcript and to the LLM's input, such as a person's note. */
  note: (text: string) => void
}

export type JoinedPeopleDeps = Omit<PersonDeps, 'transcriptionFailed'> & { events: StageEvents }

export type JoinedPeopleEvents = {
  /** Called when a person has joined or left. */
  changed(): void
  /** Called when the agent must be silent, or may speak again. */
  agentIsMuted(isMuted: boolean): void
}

/**
 * Names for the agent's and the caller's voice in a mix. A person's voice is named by an id that begins with `join_`.
 */
const agentName = 'agent'
const callerName = 'caller'
/** Frames are sent this much ahead of real time. The value is small to keep the delay between people short. */
const aheadMs = 60

export class JoinedPeople {
  readonly #deps: JoinedPeopleDeps
  readonly #personDeps: PersonDeps
  readonly #events: JoinedPeopleEvents
  readonly #people = new Map<string, Person>()
  /** Mixes the people's voices for the caller. */
  readonly #forCaller: VoiceMix
  #isMuted = false
  /** True while the caller waits on hold. */
  #isHeld = false
  /** Ends the media of a person who joins after the conversation's end. Null while the conversation goes on. */
  #end: ((media: MediaTransport) => void) | null = null

  constructor(deps: JoinedPeopleDeps, events: JoinedPeopleEvents) {
    this.#deps = deps
    this.#personDeps = { ...deps, transcriptionFailed: (fault) => this.#transcriptionFailed(fault) }
    this.#events = events
    this.#forCaller = new VoiceMix(deps.sampleRateHz)
  }

  get count(): number {
    return this.#people.size
  }

  /** Adds a person, or reconnects a person over another socket. */
  join(person: JoinedPerson, media: MediaTransport): MediaSink {
    if (this.#end !== null) {
      this.#end(media)
      return ignoring
    }
    const existing = this.#people.get(person.identity)
    if (existing !== undefined) {
      existing.back(media)
      this.#deps.callLog.event('room.participant_reconnected', { identity: person.identity })
      return existing
    }
    const joined: Person = new Person(person, media, this.#personDeps, {
      isHeld: () => this.#isHeld,
      audio: (samples) => this.#audioOf(joined, samples),
      left: () => this.#left(joined),
    })
    this.#people.set(person.identity, joined)
    this.#deps.callLog.event('room.participant_joined', { identity: person.identity })
    this.#deps.note(`${nameOf(person)} has joined.`)
    this.#events.changed()
    return joined
  }

  notify(event: SessionEvent): void {
    if (event.type === 'toolCall' || event.type === 'toolRequested') return
    for (const person of this.#people.values()) person.media?.notify(event)
  }

  /** Passes the caller's samples to the people. The buffer may be reused after the function returns. */
  caller(samples: Int16Array): void {
    for (const { mix } of this.#people.values()) mix.push(callerName, 'person', samples)
  }

  /**
   * Handles a frame on its way to the caller: people receive the agent's voice from the frame, and their voices are
   * added to it.
   */
  exchange(frame: Int16Array): void {
    // During a hold the frame contains the hold's sound, so people do not receive it.
    if (this.#isHeld) return
    for (const { mix } of this.#people.values()) mix.push(agentName, 'agent', frame)
    this.#forCaller.mixInto(frame)
  }

  /** Call this when the caller's client drops audio that it has not played. The people's copies are dropped too. */
  cleared(): void {
    for (const { mix } of this.#people.values()) mix.drop(agentName)
  }

  /**
   * Begins or ends the caller's hold. Audio that waits to be mixed is dropped, because otherwise it would be played
   * after the hold.
   */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld
    if (!isHeld) return
    this.#forCaller.dropAll()
    for (const person of this.#people.values()) person.silence()
  }

  /** Ends all people's media, because the conversation is over. If a person joins later, their media ends too. */
  close(end: (media: MediaTransport) => void): void {
    this.#end = end
    for (const person of [...this.#people.values()]) {
      const { media } = person
      person.close()
      this.#deps.callLog.event('room.participant_left', { identity: person.who.identity })
      if (media !== null) end(media)
    }
    this.#people.clear()
  }

  #audioOf(from: Person, samples: Int16Array): void {
    const { identity } = from.who
    this.#mute()
    if (this.#isHeld) return
    this.#forCaller.push(identity, 'person', samples)
    for (const person of this.#people.values()) if (person !== from) person.mix.push(identity, 'person', samples)
  }

  /**
   * Handles a person's failed transcription. The call goes on without their words, because it is now between the caller
   * and the people.
   */
  #transcriptionFailed(fault: Fault): void {
    if (isHopeless(fault)) return this.#deps.events.stageLost(fault)
    const { input, log } = this.#deps
    log.warn({ sessionId: input.call.id, kind: fault.kind }, 'the speech to text of a person who has joined is lost')
  }

  #left(person: Person): void {
    const { who } = person
    if (this.#people.get(who.identity) !== person) return
    this.#people.delete(who.identity)
    this.#forCaller.drop(who.identity)
    for (const { mix } of this.#people.values()) mix.drop(who.identity)
    this.#deps.callLog.event('room.participant_left', { identity: who.identity })
    this.#deps.note(`${nameOf(who)} has left.`)
    this.#mute()
    this.#events.changed()
  }

  #mute(): void {
    const isMuted = [...this.#people.values()].some(({ hasSentAudio }) => hasSentAudio)
    if (isMuted === this.#isMuted) return
    this.#isMuted = isMuted
    this.#events.agentIsMuted(isMuted)
  }
}

export function nameOf({ displayName }: JoinedPerson): string {
  return displayName ?? 'A person'
}

type PersonEvents = {
  /** Returns true while the caller waits on hold. */
  isHeld(): boolean
  audio(samples: Int16Array): void
  left(): void
}

/** Receives the media events of a person who joined after the end, and ignores them. */
const ignoring: MediaSink = {
  audio() {},
  played() {},
  cleared() {},
  userMessage() {},
  contextualUpdate() {},
  dtmf() {},
  toolResult: () => false,
  gone() {},
  back() {},
  hangUp() {},
}

/** One person who has joined, and the frames that this person receives. */
class Person implements MediaSink, Paced {
  place = -1
  readonly who: JoinedPerson
  readonly mix: VoiceMix
  media: MediaTransport | null
  /** True after the first audio frame, even if it was silent. */
  hasSentAudio = false
  readonly #deps: PersonDeps
  readonly #events: PersonEvents
  readonly #line: MediaLine
  readonly #voice: JoinedVoice
  readonly #recording: RecordedVoice | null
  #isClosed = false

  constructor(who: JoinedPerson, media: MediaTransport, deps: PersonDeps, events: PersonEvents) {
    this.who = who
    this.media = media
    this.#deps = deps
    this.#events = events
    this.mix = new VoiceMix(deps.sampleRateHz)
    this.#recording = deps.input.recorder?.joiner() ?? null
    this.#voice = new JoinedVoice(deps, {
      audio: (samples) => this.#recording?.write(samples, deps.clock.monotonicMs()),
      saying: (id, text) => deps.record.agentText(id, text, false, false),
      said: (turn) => this.#addTurn(turn, this.#voice.route),
    })
    this.#line = new MediaLine(media, (samples) => this.#voice.received(samples))
    // The media line mixes its background sound into each sent frame. Here the background is the mix of the other
    // voices, and the frames are otherwise silent, so the person receives only the mix.
    this.#line.background('ambient', this.mix)
    deps.pacer.add(this)
  }

  pace(nowMs: number): void {
    const line = this.#line
    if (!line.isOpen) return
    for (line.catchUp(nowMs); line.dueMs + frameMs - nowMs <= aheadMs; ) {
      line.frame.fill(0)
      line.send()
    }
  }

  audio(samples: Int16Array): void {
    if (this.#isClosed) return
    this.hasSentAudio = true
    if (!this.#events.isHeld()) this.#voice.audio(samples)
    this.#events.audio(samples)
  }

  userMessage(text: string): void {
    const nowMs = this.#deps.clock.monotonicMs()
    if (this.#isClosed || this.#events.isHeld()) return
    this.#addTurn({ id: this.#deps.newId(), text, startedMs: nowMs, speechEndMs: nowMs, dueMs: null }, null)
  }

  /** Adds the person's turn to the transcript and the history. `by` is null if the person typed. */
  #addTurn(turn: SaidTurn, by: Route | null): void {
    this.#deps.record.personTurn(turn, by, this.who)
    this.#deps.turns.note(turn.text, 'assistant')
  }

  contextualUpdate(text: string): void {
    if (!this.#isClosed && !this.#events.isHeld()) this.#deps.note(text)
  }

  toolResult(): boolean {
    return false
  }

  played(): void {
    // No marks are sent to people, because only the caller's playout is measured.
  }

  cleared(): void {
    // Audio that was sent to a person is never cleared.
  }

  dtmf(): void {
    // Digits from people are ignored. Only the caller's digits count.
  }

  gone(): void {
    this.media = null
    this.#line.use(null, 0)
    this.#stopped()
  }

  /** Drops the audio that waits for this person, and ends current speech, because the caller is put on hold. */
  silence(): void {
    this.mix.dropAll()
    this.#stopped()
  }

  /** Call this when the person's audio stops for a while. The current words are then complete. */
  #stopped(): void {
    this.#voice.silence()
    this.#recording?.restart()
  }

  back(media: MediaTransport): void {
    this.media = media
    this.#line.use(media, this.#deps.clock.monotonicMs())
  }

  hangUp(): void {
    if (this.#isClosed) return
    const { media } = this
    this.close()
    this.#events.left()
    media?.close('user_hangup', null)
  }

  close(): void {
    this.#isClosed = true
    this.media = null
    this.#deps.pacer.delete(this)
    this.#line.use(null, 0)
    this.#voice.close()
  }
}
