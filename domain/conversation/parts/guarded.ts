/**
 * Guards the entry points of a conversation, so that a defect in one conversation ends only this conversation. Each
 * call from outside goes through a guard. If our code throws there, the guard reports the error to `failed` and does
 * not pass it to the calling code, because the calling code serves other sessions too.
 */
import type { MediaSink } from '../../ports/media.ts'
import type { SpeechSink, TranscriptionSink } from '../../speech/stream.ts'
import type { ConversationDeps, GuardedDeps } from './deps.ts'
import type { Conversation } from './live-call.ts'
import type { Paced, Pacer } from './pacer.ts'

type Failed = (error: unknown) => void

export function guardedDeps(deps: ConversationDeps, failed: Failed): GuardedDeps {
  const { clock, vad, pacer, transcribeStream, synthesizeStream } = deps
  const guard = guardOf(failed)
  return {
    ...deps,
    defect: failed,
    clock: {
      nowMs: () => clock.nowMs(),
      monotonicMs: () => clock.monotonicMs(),
      after: (delayMs, run) => clock.after(delayMs, () => guard(run)),
    },
    pacer: guardedPacer(pacer, guard),
    vad: {
      open: (onFrame) => vad.open((probability) => guard(() => onFrame(probability))),
      close: () => vad.close(),
    },
    transcribeStream: (input, sink) => transcribeStream(input, guardedTranscription(sink, guard)),
    synthesizeStream: (input, sink) => synthesizeStream(input, guardedSpeech(sink, guard)),
  }
}

/** Guards the pacer: one timer serves the playouts in all sessions, so an error thrown there would end the process. */
function guardedPacer(pacer: Pacer, guard: Guard): Pacer {
  const guarded = new Map<Paced, Paced>()
  return {
    add(member) {
      const wrapper = guarded.get(member) ?? { place: -1, pace: (nowMs: number) => guard(() => member.pace(nowMs)) }
      guarded.set(member, wrapper)
      pacer.add(wrapper)
    },
    delete(member) {
      const wrapper = guarded.get(member)
      if (wrapper === undefined) return
      guarded.delete(member)
      pacer.delete(wrapper)
    },
  }
}

export function guardedConversation(inner: Conversation, failed: Failed): Conversation {
  const guard = guardOf(failed)
  return {
    ...guardedSink(inner, guard),
    get isOver() {
      return inner.isOver
    },
    get isEnding() {
      return inner.isEnding
    },
    get isTransferring() {
      return inner.isTransferring
    },
    get isHandedOver() {
      return inner.isHandedOver
    },
    join: (person, media) => guardedSink(inner.join(person, media), guard),
    end: (reason, clientReason) => guard(() => inner.end(reason, clientReason)),
    hold: (tone, held) => inner.hold(tone, () => guard(held)),
    resume: (after) => guard(() => inner.resume(after)),
    handOver: () => guard(() => inner.handOver()),
    silence: (isSilent) => guard(() => inner.silence(isSilent)),
    leave: (reason, message) => guard(() => inner.leave(reason, message)),
    creditGone: () => guard(() => inner.creditGone()),
    screen: (text, media, events) => {
      const screening = inner.screen(text, media, events)
      return { ...guardedSink(screening, guard), close: () => guard(() => screening.close()) }
    },
  }
}

function guardedSink(inner: MediaSink, guard: Guard): MediaSink {
  return {
    audio: (samples) => guard(() => inner.audio(samples)),
    played: (mark) => guard(() => inner.played(mark)),
    cleared: (mark, playedMs) => guard(() => inner.cleared(mark, playedMs)),
    userMessage: (text) => guard(() => inner.userMessage(text)),
    contextualUpdate: (text) => guard(() => inner.contextualUpdate(text)),
    dtmf: (digits) => guard(() => inner.dtmf(digits)),
    toolResult: (id, result, isError) => inner.toolResult(id, result, isError),
    gone: () => guard(() => inner.gone()),
    back: (transport) => guard(() => inner.back(transport)),
    hangUp: () => guard(() => inner.hangUp()),
  }
}

type Guard = (run: () => void) => void

function guardOf(failed: Failed): Guard {
  return (run) => {
    try {
      run()
    } catch (error) {
      failed(error)
    }
  }
}

function guardedTranscription(sink: TranscriptionSink, guard: Guard): TranscriptionSink {
  return {
    ready: (route, ignored) => guard(() => sink.ready(route, ignored)),
    transcript: (transcript) => guard(() => sink.transcript(transcript)),
    ended: (usage) => guard(() => sink.ended(usage)),
    failed: (fault) => guard(() => sink.failed(fault)),
  }
}

function guardedSpeech(sink: SpeechSink, guard: Guard): SpeechSink {
  return {
    ready: (route) => guard(() => sink.ready(route)),
    audio: (bytes) => {
      let mayContinue = true
      guard(() => {
        mayContinue = sink.audio(bytes)
      })
      return mayContinue
    },
    cleared: (characters) => guard(() => sink.cleared(characters)),
    speaking: (from, ends) => guard(() => sink.speaking?.(from, ends)),
    handedOver: (characters) => guard(() => sink.handedOver?.(characters)),
    ended: (usage) => guard(() => sink.ended(usage)),
    failed: (fault) => guard(() => sink.failed(fault)),
  }
}
