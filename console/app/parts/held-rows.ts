/** Keeps the rows of a list at their places while a person looks through the rows. */
import { useCallback, useEffect, useLayoutEffect, useState } from 'react'
import { whenReleased } from '../data/hold.ts'
import { inPlace, type Row } from '../data/rows-in-place.ts'

/**
 * Returns the rows to show. `isWaiting`: the fresh rows have another order or new rows, and `show` brings them. They
 * come by themselves when the hold ends.
 */
export function useHeldRows<Each extends Row>(
  fresh: readonly Each[],
  timeOf: (row: Each) => string,
  isHeld: () => boolean,
): { rows: readonly Each[]; isWaiting: boolean; show: () => void } {
  const [rows, setRows] = useState(fresh)
  useLayoutEffect(() => setRows((shown) => (isHeld() ? inPlace(shown, fresh, timeOf) : fresh)), [fresh, timeOf, isHeld])
  const isWaiting = rows.length !== fresh.length || rows.some(({ id }, at) => id !== fresh[at]?.id)
  const show = useCallback(() => setRows(fresh), [fresh])
  useEffect(() => {
    if (!isWaiting) return
    const controller = new AbortController()
    const { signal } = controller
    void whenReleased(isHeld, signal).then(() => !signal.aborted && show())
    return () => controller.abort()
  }, [isWaiting, isHeld, show])
  return { rows, isWaiting, show }
}
