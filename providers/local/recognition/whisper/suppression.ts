/** Chooses a text's likeliest next token. */
import type { Vocabulary } from './vocabulary.ts'

/**
 * Tokens for sounds without speech, such as brackets and musical notes. OpenAI has published this list with the
 * weights. The decoder's special tokens are left out here.
 */
const notSpeech = [
  1, 2, 7, 8, 9, 10, 14, 25, 26, 27, 28, 29, 31, 58, 59, 60, 61, 62, 63, 90, 91, 92, 93, 359, 503, 522, 542, 873, 893,
  902, 918, 922, 931, 1350, 1853, 1982, 2460, 2627, 3246, 3253, 3268, 3536, 3846, 3961, 4183, 4667, 6585, 6647, 7273,
  9061, 9383, 10428, 10929, 11938, 12033, 12331, 12562, 13793, 14157, 14635, 15265, 15618, 16553, 16604, 18362, 18956,
  20075, 21675, 22520, 26130, 26161, 26435, 28279, 29464, 31650, 32302, 32470, 36865, 42863, 47425, 49870, 50254,
]
/** The first token is neither a blank nor the end-of-text token. */
const blankToken = 220

export class Suppression {
  readonly #endToken: number
  readonly #suppressed: Uint8Array

  constructor({ endToken }: Vocabulary) {
    this.#endToken = endToken
    this.#suppressed = new Uint8Array(endToken + 1)
    for (const token of notSpeech) this.#suppressed[token] = 1
  }

  /** Special tokens are never chosen, except the end-of-text token. */
  likeliest(logits: Float32Array, isFirst: boolean): number {
    let best = -1
    for (let token = 0; token <= this.#endToken; token++) {
      if (this.#suppressed[token] === 1) continue
      if (isFirst && (token === this.#endToken || token === blankToken)) continue
      if (best < 0 || (logits[token] as number) > (logits[best] as number)) best = token
    }
    return best
  }
}
