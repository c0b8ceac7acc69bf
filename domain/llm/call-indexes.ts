/**
 * The part of a streamed chunk that belongs to one tool call. `id` is undefined if this part has no id or a blank id.
 */
type CallPiece = { index: unknown; id: string | undefined; isNamed: boolean }

/**
 * Counts the tool calls in a streamed chat completion. Servers that send each call in one piece may leave the index
 * out. Some servers send the index 0 with every call. Others send a new id with each piece, so only a piece with
 * another id and a name begins a new call at the same index.
 */
export class CallIndexes {
  /** Maps the server's index, or the id if there is no index, to the newest call there. */
  readonly #calls = new Map<unknown, { index: number; id: string | undefined }>()
  #lastKey: unknown
  count = 0

  /** Returns the call's index for the piece. The indexes count from 0 without gaps. */
  read({ index, id, isNamed }: CallPiece): { index: number; isNew: boolean } {
    const key = index ?? id ?? (isNamed ? this.count : this.#lastKey)
    this.#lastKey = key
    const known = this.#calls.get(key)
    const isSame = known !== undefined && (!isNamed || id === undefined || known.id === undefined || id === known.id)
    if (isSame) return { index: known.index, isNew: false }
    const made = { index: this.count++, id }
    this.#calls.set(key, made)
    return { index: made.index, isNew: true }
  }
}
