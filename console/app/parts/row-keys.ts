import { useState } from 'react'
import type { Shortcut } from './key-map.ts'
import { useShortcuts } from './shortcuts.tsx'

/** Makes the keys j and k, which call `move` with 1 and -1. `noun` is for the help, such as `row`. */
export const moveKeys = (noun: string, move: (by: 1 | -1) => void): Shortcut[] => [
  { keys: 'j', label: `Next ${noun}`, run: () => move(1) },
  { keys: 'k', label: `Previous ${noun}`, run: () => move(-1) },
]

/** Moves the focus between the rows of the page's first table with j and k. Enter then opens the row. */
export function useRowKeys(): void {
  const [shortcuts] = useState(() => moveKeys('row', moveFocus))
  useShortcuts(shortcuts)
}

function moveFocus(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>('main tbody tr td:first-child > a')]
  const at = links.findIndex((link) => link === document.activeElement)
  const next = at < 0 ? 0 : Math.min(links.length - 1, Math.max(0, at + by))
  links[next]?.focus()
}
