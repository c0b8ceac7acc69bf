/**
 * Whisper's tokens. A token is a piece of UTF-8 text, possibly only some bytes in a character, or a special token for
 * the decoder, such as `<|en|>`. The file writes each byte as one visible character, as GPT-2 does.
 */

export class Vocabulary {
  readonly startToken: number
  /** The end-of-text token. All special tokens follow it, so text tokens have smaller numbers. */
  readonly endToken: number
  readonly transcribeToken: number
  readonly noTimestampsToken: number
  /** If this token is likely at the text's start, the audio has no speech. */
  readonly noSpeechToken: number
  /** Whisper's language codes, by token. */
  readonly languages: ReadonlyMap<number, string>
  readonly #pieces: readonly Buffer[]
  readonly #tokens: ReadonlyMap<string, number>

  /** `file` has one token a line. Throws Error if a special token is missing. */
  constructor(file: string) {
    // The last text token, before the special tokens, is the empty string. So an empty line counts as a token.
    const lines = file.replace(/\n$/, '').split('\n')
    this.#tokens = new Map(lines.map((line, token) => [line, token]))
    this.startToken = this.#tokenOf('<|startoftranscript|>')
    this.endToken = this.#tokenOf('<|endoftext|>')
    this.transcribeToken = this.#tokenOf('<|transcribe|>')
    this.noTimestampsToken = this.#tokenOf('<|notimestamps|>')
    this.noSpeechToken = this.#tokenOf('<|nocaptions|>')
    this.languages = new Map(
      lines.flatMap((line, token) => {
        const [, code] = /^<\|([a-z]{2,3})\|>$/.exec(line) ?? []
        return code === undefined ? [] : [[token, code] as const]
      }),
    )
    this.#pieces = lines.slice(0, this.endToken).map((line) => Buffer.from(Array.from(line, byteOf)))
  }

  languageToken(code: string): number {
    return this.#tokenOf(`<|${code}|>`)
  }

  /** Counts the characters that begin in this token. */
  charactersIn(token: number): number {
    let count = 0
    for (const byte of this.#pieces[token] ?? []) if ((byte & 0xc0) !== 0x80) count++
    return count
  }

  textOf(tokens: readonly number[]): string {
    return Buffer.concat(tokens.map((token) => this.#pieces[token] ?? Buffer.alloc(0))).toString('utf8')
  }

  #tokenOf(sign: string): number {
    const token = this.#tokens.get(sign)
    if (token === undefined) throw new Error(`the vocabulary lacks ${sign}`)
    return token
  }
}

/** Bytes that are visible in Latin-1 are written as this character. The others get the characters from U+0100 on. */
const visible = [...range(0x21, 0x7e), ...range(0xa1, 0xac), ...range(0xae, 0xff)]
const others = range(0x00, 0xff).filter((byte) => !visible.includes(byte))
const bytes: ReadonlyMap<string, number> = new Map([
  ...visible.map((byte) => [String.fromCodePoint(byte), byte] as const),
  ...others.map((byte, i) => [String.fromCodePoint(0x100 + i), byte] as const),
])

function byteOf(character: string): number {
  return bytes.get(character) ?? 0x3f
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i)
}
