/** Finds the shortcut for a pressed key. */
export type Shortcut = { keys: string; label: string; run: () => void }

/** The second key of a pair must come within this time. */
const pairMs = 1000

export class KeyMap {
  #lists: (readonly Shortcut[])[] = []
  #first: { key: string; atMs: number } | null = null

  /** Adds shortcuts. The returned function removes them. */
  add(shortcuts: readonly Shortcut[]): () => void {
    this.#lists = [shortcuts, ...this.#lists]
    return () => {
      this.#lists = this.#lists.filter((list) => list !== shortcuts)
    }
  }

  /** Lists the present page's shortcuts for the help. */
  all(): Shortcut[] {
    return this.#lists.toReversed().flat()
  }

  press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isElsewhere(event.target)) return
    const { key, timeStamp } = event
    const before = this.#first !== null && timeStamp - this.#first.atMs < pairMs ? this.#first.key : null
    const found = (before !== null && this.#find(`${before} ${key}`)) || this.#find(nameOf(event))
    this.#first = found ? null : { key, atMs: timeStamp }
    if (!found) return
    event.preventDefault()
    found.run()
  }

  #find(keys: string): Shortcut | undefined {
    return this.#lists.flat().find((shortcut) => shortcut.keys === keys)
  }
}

const nameOf = ({ key, shiftKey }: KeyboardEvent) => (shiftKey && /^[A-Z]$/.test(key) ? `Shift+${key}` : key)

/** Returns true in fields and menus, which use the keys themselves, and in dialogs. */
function isElsewhere(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  return target.closest('input, textarea, select, dialog, [role="menu"], [contenteditable="true"]') !== null
}
