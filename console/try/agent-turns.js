/** Shows the conversation: one paragraph for each turn, with its played and unplayed words. */
const element = (id) => document.getElementById(id)

/**
 * About fifteen characters a second. During a turn its words are marked as played at this estimated pace; the turn's
 * end corrects the estimate.
 */
const charactersPerMs = 0.015

export class Turns {
  #log = element('conversation')
  /** The displayed turns by their ids. */
  #turns = new Map()
  #isFresh = true
  /** The last typed turn; null after the next turn. */
  #typed = null

  clear() {
    this.#turns.clear()
    this.#log.replaceChildren()
    this.#isFresh = false
  }

  /** Shows a typed turn. If the server then sends the same turn's transcript, no second turn appears. */
  typed(text) {
    const id = `typed ${this.#turns.size}`
    this.user(id, text, true)
    this.#typed = { id, text }
  }

  /** Shows the user's words. A transcript with the same id replaces the earlier words. */
  user(id, text, isFinal) {
    if (text === '' && !this.#turns.has(id)) return
    if (this.#typed?.text === text && !this.#turns.has(id)) this.#turns.set(id, this.#turns.get(this.#typed.id))
    this.#typed = null
    const turn = this.#turnOf(id, 'user', 'You')
    turn.line.classList.toggle('partial', !isFinal)
    turn.words.textContent = text
    this.#scroll()
  }

  agent({ id, text, isFinal, interrupted = false }) {
    const turn = this.#turnOf(id, 'agent', 'Agent')
    // An interrupted turn ends with its played words. The rest of its longest text was cut off.
    if (text.length > turn.text.length) turn.text = text
    turn.isFinal = isFinal
    turn.played = isFinal ? text.length : turn.played
    turn.isCut = interrupted
    turn.line.classList.toggle('interrupted', interrupted)
    this.#showWords(turn)
  }

  /** Shows a turn's words as played up to the mark. A mark's name is `<turn>:<ms>`. */
  played(mark) {
    const at = mark.lastIndexOf(':')
    const turn = this.#turns.get(mark.slice(0, at))
    if (!turn || turn.isFinal) return
    turn.played = Math.min(turn.text.length, Math.round(Number(mark.slice(at + 1)) * charactersPerMs))
    this.#showWords(turn)
  }

  event(text) {
    const line = document.createElement('p')
    line.className = 'event'
    line.textContent = text
    this.#log.append(line)
    this.#scroll()
  }

  #turnOf(id, side, name) {
    const known = this.#turns.get(id)
    if (known) return known
    if (this.#isFresh) this.clear()
    const line = document.createElement('p')
    line.className = `turn ${side}`
    const who = document.createElement('span')
    who.className = 'who'
    who.textContent = name
    const words = document.createElement('span')
    words.className = 'words'
    line.append(who, words)
    this.#log.append(line)
    const turn = { line, words, text: '', played: 0, isFinal: false, isCut: false }
    this.#turns.set(id, turn)
    return turn
  }

  #showWords(turn) {
    const { text, played, isFinal, isCut, words } = turn
    // The played part ends at a word's end, never within a word.
    const end = isFinal ? played : endOfWord(text, played)
    const rest = document.createElement(isCut ? 'del' : 'span')
    rest.className = isCut ? 'unplayed' : 'ahead'
    rest.textContent = text.slice(end)
    words.replaceChildren(text.slice(0, end), ...(rest.textContent === '' ? [] : [rest]))
    this.#scroll()
  }

  #scroll() {
    this.#log.scrollTop = this.#log.scrollHeight
  }
}

function endOfWord(text, at) {
  const space = text.indexOf(' ', at)
  return space < 0 ? text.length : at === 0 ? 0 : space
}
