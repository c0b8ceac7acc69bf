/** A small network that reads words without an entry in the lexicon, letter by letter. */
import * as ort from 'onnxruntime-node'
import { openSession } from '../../weights/onnx.ts'
import { readWeights } from '../../weights/weights.ts'

/** The letters and phonemes of the network. An id is an index in the list, beginning with 1. */
type Alphabets = { in: string[]; out: string[]; maxlen: number }

/** This id separates phonemes. */
const blankId = 0

export class UnknownWords {
  readonly #session: ort.InferenceSession
  readonly #letterIds: ReadonlyMap<string, bigint>
  readonly #phonemes: readonly string[]
  readonly #lettersMax: number

  private constructor(session: ort.InferenceSession, alphabets: Alphabets) {
    this.#session = session
    this.#letterIds = new Map(alphabets.in.map((letter, at) => [letter, BigInt(at + 1)]))
    this.#phonemes = alphabets.out
    this.#lettersMax = alphabets.maxlen
  }

  static async open(): Promise<UnknownWords> {
    const alphabets = JSON.parse((await readWeights('hibariUnknownLetters')).toString()) as Alphabets
    return new UnknownWords(await openSession('hibariUnknownWords', { enableMemPattern: false }), alphabets)
  }

  /** Returns the word's phonemes. Unknown letters, and letters beyond the network's limit, are left out. */
  async read(word: string): Promise<string> {
    const ids = [...word].flatMap((letter) => this.#letterIds.get(letter) ?? []).slice(0, this.#lettersMax)
    if (ids.length === 0) return ''
    const chars = new ort.Tensor('int64', BigInt64Array.from(ids), [1, ids.length])
    const { ids: result } = await this.#session.run({ chars })
    let phonemes = ''
    let before = blankId
    for (const id of Array.from(result?.data as BigInt64Array, Number)) {
      if (id !== before && id !== blankId) phonemes += this.#phonemes[id - 1] ?? ''
      before = id
    }
    return phonemes
  }
}
