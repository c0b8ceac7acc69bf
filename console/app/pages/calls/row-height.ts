/**
 * Returns a row's height in pixels. The style sheet has the same heights: a line on wide screens, a card on narrow
 * screens.
 */
import { useEffect, useState } from 'react'

const narrow = window.matchMedia('(max-width: 47.9375rem)')
const heights = { line: 41, card: 78, match: 24 }

export function useRowHeight(isSearch: boolean): number {
  const [isNarrow, setNarrow] = useState(narrow.matches)
  useEffect(() => {
    const listen = () => setNarrow(narrow.matches)
    narrow.addEventListener('change', listen)
    return () => narrow.removeEventListener('change', listen)
  }, [])
  return (isNarrow ? heights.card : heights.line) + (isSearch ? heights.match : 0)
}
