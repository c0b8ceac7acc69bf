import { useState } from 'react'
import { useShortcuts } from './shortcuts.tsx'

/** Moves the focus between the rows of the page's first table with j and k. Enter then opens the row. */
export function useRowKeys(): void {
  const [shortcuts] = useState(() => [
    { keys: 'j', label: 'Next row', run: () => move(1) },
    { keys: 'k', label: 'Row before', run: () => move(-1) },
  ])
  useShortcuts(shortcuts)
}

function move(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>('main tbody tr td:first-child > a')]
  const at = links.findIndex((link) => link === document.activeElement)
  const next = at < 0 ? 0 : Math.min(links.length - 1, Math.max(0, at + by))
  links[next]?.focus()
}
