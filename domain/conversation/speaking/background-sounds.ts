/** Plays sounds under the voices in a call: the agent's background sounds, or the hold's sound. */
import { backgroundClip } from '../../../audio/background.ts'
import { holdClip } from '../../../audio/hold-tones.ts'
import { RepeatingClip } from '../../../audio/mix.ts'
import type { Log } from '../../ports/system.ts'
import type { Pipeline } from '../../records/pipeline.ts'
import type { HoldSound } from '../parts/transferable.ts'
import type { Playout } from './playout.ts'

export class BackgroundSounds {
  readonly #playout: Pick<Playout, 'background'>
  readonly #rateHz: number
  #ambient: RepeatingClip | null = null
  /** The sound played while a tool runs. Null until it is ready. */
  #tool: RepeatingClip | null = null
  /** The sound for the caller on hold. Null while the caller is not on hold. */
  #holdSound: HoldSound | null = null
  #isClosed = false

  constructor(playout: Pick<Playout, 'background'>, rateHz: number) {
    this.#playout = playout
    this.#rateHz = rateHz
  }

  load({ ambient, toolSound }: Pipeline['backgroundAudio'], log: Log): void {
    const load = async (source: typeof ambient, use: (clip: RepeatingClip) => void) => {
      try {
        if (source !== null) use(new RepeatingClip(await backgroundClip(source.clip, this.#rateHz), source.volume))
      } catch (err) {
        log.error({ err }, 'a background sound cannot be made')
      }
    }
    void load(ambient, (clip) => {
      this.#ambient = clip
      if (this.#holdSound === null && !this.#isClosed) this.#playout.background('ambient', clip)
    })
    void load(toolSound, (clip) => {
      this.#tool = clip
    })
  }

  tool(isRunning: boolean): void {
    this.#playout.background('toolSound', isRunning && this.#holdSound === null ? this.#tool : null)
  }

  /** Plays the hold's sound. If null, plays the agent's background sounds again. */
  hold(sound: HoldSound | null): void {
    this.#holdSound = sound
    this.#playout.background('toolSound', null)
    if (sound === null) return this.#playout.background('ambient', this.#ambient)
    this.#playout.background('ambient', new RepeatingClip(holdClip(sound.tone, this.#rateHz), 1))
    void sound.audio?.(this.#rateHz).then((clip) => {
      const isCurrent = this.#holdSound === sound && !this.#isClosed
      if (clip !== null && isCurrent) this.#playout.background('ambient', new RepeatingClip(clip, 1))
    })
  }

  close(): void {
    this.#isClosed = true
  }
}
