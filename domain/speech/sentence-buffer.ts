/**
 * Cuts text that comes in pieces into sentences that can be spoken one by one. What it hands out, laid end to end, is the text that went in,
 * so that a place in the speech is a place in the text.
 *
 * A sentence ends at . ! ? ; : with white space after it, at a line break and at a CJK stop; at . ! ? also where the piece ends, because whoever
 * sends whole sentences should not have to say so. A full stop after a digit, a single letter or a common abbreviation ends nothing there: the
 * next piece may go on with the number. `flush` ends what is left.
 */
export class SentenceBuffer {
  #text = ''

  /** UTF-16 units that wait for the end of their sentence. */
  get length(): number {
    return this.#text.length
  }

  push(text: string): string[] {
    this.#text += text
    const whole: string[] = []
    for (let end = sentenceEnd(this.#text); end > 0; end = sentenceEnd(this.#text)) whole.push(this.#take(end))
    return whole
  }

  /** All that is left; '' for nothing. */
  flush(): string {
    return this.#take(this.#text.length)
  }

  #take(end: number): string {
    const sentence = this.#text.slice(0, end)
    this.#text = this.#text.slice(end)
    return sentence
  }
}

/** Beyond this a sentence is cut: its first sound would come late, and providers take only so much. */
const sentenceCharactersMax = 400

const endings = /[.!?;:…]+["'”’»)\]]*\s+|[.!?…]+["'”’»)\]]*$|[。！？；：]["'”’」』）]*|\n/g
const abbreviation =
  /(?:^|[\s("'“‘.])(?:\p{L}|mr|mrs|ms|dr|prof|st|no|vs|etc|approx|inc|ltd|jr|sr|sra|dept|fig|bzw|nr|av)\.[ \t]*$/iu
/** "1." begins a list, and "3." at the end of a piece may go on with 14. */
const numberAlone = /^\s*\d+\.[ \t]*$|\d\.$/

/** Where the first sentence of `text` ends, with the white space after it; 0 where none does yet. */
function sentenceEnd(text: string): number {
  endings.lastIndex = 0
  for (let match = endings.exec(text); match; match = endings.exec(text)) {
    const end = endings.lastIndex
    if (end > sentenceCharactersMax) break
    const head = text.slice(0, end)
    if (isSpeakable(head) && !abbreviation.test(head) && !numberAlone.test(head)) return end
  }
  return text.length > sentenceCharactersMax ? cutAt(text.slice(0, sentenceCharactersMax)) : 0
}

/** Something that a voice can say: marks and emoji alone are silence, and a provider that answers silence has not failed. */
export function isSpeakable(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text)
}

/** After the last comma that leaves a fair piece, else after the last space, else anywhere but within a surrogate pair. */
function cutAt(head: string): number {
  const comma = Math.max(head.lastIndexOf(', '), head.lastIndexOf('，'), head.lastIndexOf('、')) + 1
  if (comma > head.length / 3) return comma
  const space = head.lastIndexOf(' ') + 1
  if (space > 0) return space
  return /[\ud800-\udbff]$/.test(head) ? head.length - 1 : head.length
}
