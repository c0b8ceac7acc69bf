/** The height of a row in pixels, as the style sheet has it: a line on wide screens, and a card on narrow screens. */
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
