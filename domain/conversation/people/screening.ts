/**
 * Asks a transfer's recipient to accept or decline the call: the agent's voice says a text, and the recipient's words
 * are searched for a yes or a no. If the words contain neither, the text is repeated. Pressed keys are handled by the
 * calling code, because the carrier reports them to that code.
 */

import type { MediaTransport } from '../../ports/media.ts'
import type { ConversationInput, GuardedDeps } from '../parts/deps.ts'
import type { Screening, ScreeningEvents } from '../parts/transferable.ts'
import { AgentSpeech } from '../speaking/agent-speech.ts'
import { normalizerOf } from '../speaking/normalizer.ts'
import { Playout } from '../speaking/playout.ts'
import type { SaidTurn } from '../turns/user-turn.ts'
import { decisionIn } from '../words/decision-words.ts'
import { JoinedVoice } from './joined-voice.ts'

/** The maximum number of questions if the person says neither yes nor no. */
const timesMax = 3

export class SpokenScreening implements Screening {
  readonly #playout: Playout
  readonly #open: () => AgentSpeech
  readonly #voice: JoinedVoice
  readonly #text: string
  #speech: AgentSpeech
  #times = 0
  /**
   * The time at which the question's end was played to the person, on the monotonic clock. Null while it is being
   * asked.
   */
  #questionEndMs: number | null = null
  #isClosed = false

  constructor(
    deps: GuardedDeps,
    input: ConversationInput,
    media: MediaTransport,
    text: string,
    events: ScreeningEvents,
  ) {
    const { log } = deps
    const { pipeline, id: sessionId } = input.call
    const { sampleRateHz } = media
    const { language } = pipeline.intent
    const ignored = () => {}
    // The call's record is about the caller, so failovers for this person are not recorded.
    const record = { failedOver: ignored }
    this.#playout = new Playout(media, deps, {
      started: ignored,
      finished: () => {
        this.#questionEndMs = deps.clock.monotonicMs()
      },
      drained: () => this.#speech.resume(),
      frame: (samples) => this.#voice.received(samples),
    })
    const lost = ({ kind }: { kind: string }) =>
      log.warn({ sessionId, kind }, 'the screening of a transfer has lost a stage')
    this.#voice = new JoinedVoice(
      { ...deps, input, sampleRateHz, record, transcriptionFailed: lost },
      {
        audio: ignored,
        saying: ignored,
        said: (turn) => {
          const decision = decisionIn(turn.text, language)
          if (this.#isClosed) return
          if (decision !== null) events.decided(decision)
          else if (this.#isAnswer(turn) && this.#times < timesMax) this.#ask()
        },
      },
      events.observer,
    )
    this.#text = text
    this.#open = () =>
      new AgentSpeech(
        { ...deps, request: input.request, presetLike: input.presetLike, normalize: normalizerOf(pipeline), record },
        { pipeline, routing: input.routing.tts, voice: { route: null, preset: null } },
        { playout: this.#playout, sampleRateHz },
        { text: ignored, voiceLost: lost },
      )
    this.#speech = this.#open()
    this.#ask()
  }

  /** Returns true if the speech ended after the question. Earlier speech, such as a greeting, is not an answer. */
  #isAnswer({ speechEndMs }: SaidTurn): boolean {
    return this.#questionEndMs !== null && speechEndMs > this.#questionEndMs
  }

  #ask(): void {
    this.#times += 1
    this.#questionEndMs = null
    if (this.#times > 1) this.#speech = this.#open()
    this.#playout.begin(this.#times)
    this.#speech.say(this.#text)
    this.#speech.finish()
    this.#playout.release()
  }

  audio(samples: Int16Array): void {
    if (!this.#isClosed) this.#voice.audio(samples)
  }

  played(mark: string): void {
    this.#playout.played(mark)
  }

  cleared(mark: string | null, playedMs: number): void {
    this.#playout.cleared(mark, playedMs)
  }

  gone(): void {
    this.close()
  }

  hangUp(): void {
    this.close()
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#speech.drop()
    this.#playout.close()
    this.#voice.close()
  }

  // These events need no handling: keys arrive as events from the carrier, and a phone sends no text.

  dtmf(): void {}

  userMessage(): void {}

  contextualUpdate(): void {}

  toolResult(): boolean {
    return false
  }

  back(): void {}
}
