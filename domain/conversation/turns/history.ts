/**
 * The conversation for the LLM: the prompt, notes, the user's turns, and the played part of the agent's turns. If there
 * are too many turns, the oldest are left out.
 */
import type { LlmItem } from '../../ports/llm.ts'
import { charactersOf } from '../../speech/characters.ts'

export const historyTurnsMax = 200
export const historyCharactersMax = 100_000

type Entry = { items: LlmItem[]; characters: number; isTurn: boolean }

export class History {
  readonly #prompt: LlmItem
  readonly #entries: Entry[] = []
  #turns = 0
  #characters = 0
  #userTurns = 0

  constructor(systemPrompt: string) {
    this.#prompt = { type: 'message', role: 'system', text: systemPrompt }
  }

  /** Returns true if there is no turn yet. */
  get isEmpty(): boolean {
    return this.#turns === 0
  }

  /** Counts the user's turns, including turns that have been left out since then. */
  get userTurns(): number {
    return this.#userTurns
  }

  user(text: string): void {
    this.#userTurns += 1
    this.#add([{ type: 'message', role: 'user', text }], true)
  }

  /** Adds a note. It does not count as a turn. */
  note(text: string): void {
    this.#add([{ type: 'message', role: 'system', text, isNote: true }], false)
  }

  /** Adds an agent turn's items: the played text, and the tool calls with their results. */
  agent(items: LlmItem[]): void {
    if (items.length > 0) this.#add(items, true)
  }

  /** Adds a tool result that arrived after its turn. */
  late(items: LlmItem[]): void {
    this.#add(items, false)
  }

  items(): LlmItem[] {
    return [this.#prompt, ...this.#entries.flatMap(({ items }) => items)]
  }

  #add(items: LlmItem[], isTurn: boolean): void {
    const characters = items.reduce((sum, item) => sum + lengthOf(item), 0)
    this.#entries.push({ items, characters, isTurn })
    this.#characters += characters
    if (isTurn) this.#turns += 1
    while (this.#entries.length > 1 && (this.#turns > historyTurnsMax || this.#characters > historyCharactersMax))
      this.#dropOldest()
  }

  #dropOldest(): void {
    const oldest = this.#entries.shift()
    if (oldest === undefined) return
    this.#characters -= oldest.characters
    if (oldest.isTurn) this.#turns -= 1
  }
}

function lengthOf(item: LlmItem): number {
  if (item.type === 'message') return charactersOf(item.text)
  return charactersOf(item.type === 'function_call' ? item.name + item.arguments : item.result)
}
