/** The sounds under the voices of a call: those of the agent's settings, or a tone while the caller is on hold. */
import { backgroundClip } from '../../audio/background.ts'
import { type HoldTone, holdClip } from '../../audio/hold-tones.ts'
import { RepeatingClip } from '../../audio/mix.ts'
import type { Log } from '../ports/system.ts'
import type { Pipeline } from '../sessions/pipeline.ts'
import type { Playout } from './playout.ts'

export class BackgroundSounds {
  readonly #playout: Pick<Playout, 'background'>
  readonly #rateHz: number
  #ambient: RepeatingClip | null = null
  /** The sound of a tool that runs. Null until it is ready. */
  #tool: RepeatingClip | null = null
  #isHold = false
  #isClosed = false

  constructor(playout: Pick<Playout, 'background'>, rateHz: number) {
    this.#playout = playout
    this.#rateHz = rateHz
  }

  load({ ambient, toolSound }: Pipeline['backgroundAudio'], log: Log): void {
    const load = async (wanted: typeof ambient, use: (clip: RepeatingClip) => void) => {
      try {
        if (wanted !== null) use(new RepeatingClip(await backgroundClip(wanted.clip, this.#rateHz), wanted.volume))
      } catch (err) {
        log.error({ err }, 'a background sound cannot be made')
      }
    }
    void load(ambient, (clip) => {
      this.#ambient = clip
      if (!this.#isHold && !this.#isClosed) this.#playout.background('ambient', clip)
    })
    void load(toolSound, (clip) => {
      this.#tool = clip
    })
  }

  tool(isRunning: boolean): void {
    this.#playout.background('toolSound', isRunning && !this.#isHold ? this.#tool : null)
  }

  /** Null: the sounds of the agent again. */
  hold(tone: HoldTone | null): void {
    this.#isHold = tone !== null
    this.#playout.background('toolSound', null)
    const clip = tone === null ? this.#ambient : new RepeatingClip(holdClip(tone, this.#rateHz), 1)
    this.#playout.background('ambient', clip)
  }

  close(): void {
    this.#isClosed = true
  }
}
