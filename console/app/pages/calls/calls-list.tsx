import { useVirtualizer } from '@tanstack/react-virtual'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { CallOverview } from '../../../../generated/clients/typescript/models/platform.ts'
import { moveKeys } from '../../parts/row-keys.ts'
import { useShortcuts } from '../../parts/shortcuts.tsx'
import { CallRow } from './call-row.tsx'
import styles from './calls-list.module.css'
import { useRowHeight } from './row-height.ts'

type ListProps = {
  calls: readonly CallOverview[]
  changes: ReadonlyMap<string, number>
  scroller: React.RefObject<HTMLDivElement | null>
  hasMore: boolean
  loadMore: () => void
  isSearch: boolean
  toSlowest: boolean
}

/** The list draws this many rows beyond the visible rows, so fast scrolling shows no gap. */
const overscan = 8

/** The list draws only the rows in view. The next page is loaded before the last row is reached. */
export function CallsList({ calls, changes, scroller, hasMore, loadMore, isSearch, toSlowest }: ListProps) {
  const rowHeight = useRowHeight(isSearch)
  const virtual = useVirtualizer({
    count: calls.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan,
    useFlushSync: false,
  })
  useEffect(() => virtual.measure(), [virtual, rowHeight])
  const { active, setActive } = useCallKeys(calls.length, scroller, virtual.scrollToIndex)
  const rows = virtual.getVirtualItems()
  const lastIndex = rows.at(-1)?.index ?? 0
  useEffect(() => {
    if (hasMore && lastIndex >= calls.length - overscan) loadMore()
  }, [hasMore, lastIndex, calls.length, loadMore])
  return (
    <div
      ref={scroller}
      className={styles.scroller}
      role="table"
      aria-label="Calls"
      aria-rowcount={hasMore ? -1 : calls.length + 1}
    >
      <Head />
      <div role="rowgroup" className={styles.rows} style={{ height: virtual.getTotalSize() }} data-search={isSearch}>
        {rows.map(({ index, start }) => {
          const call = calls[index]
          return (
            call && (
              <CallRow
                key={call.id}
                call={call}
                index={index}
                top={start}
                isActive={index === active}
                changes={changes.get(call.id) ?? 0}
                toSlowest={toSlowest}
                onFocus={setActive}
              />
            )
          )
        })}
      </div>
    </div>
  )
}

const columns = ['Time', 'With', 'Agent', 'Outcome', 'Length', 'Slowest turn', 'Marks']

function Head() {
  return (
    <div role="rowgroup" className={styles.head}>
      <div role="row" aria-rowindex={1} className={styles.headRow}>
        {columns.map((name) => (
          <span key={name} role="columnheader">
            {name}
          </span>
        ))}
      </div>
    </div>
  )
}

/**
 * The keys j and k move the focus through the rows, so Enter opens the focused call. Keys may come faster than frames
 * are drawn, so each frame focuses the newest target row: focusing an earlier row would set the target back to it.
 */
function useCallKeys(
  count: number,
  scroller: React.RefObject<HTMLDivElement | null>,
  scrollToIndex: (index: number) => void,
) {
  const [active, setActive] = useState(-1)
  const wanted = useRef(-1)
  const move = useCallback(
    (by: number) => {
      wanted.current = Math.min(Math.max(0, wanted.current + by), count - 1)
      scrollToIndex(wanted.current)
      // The target row exists only after the scroll, so it gets the focus in the next frame.
      requestAnimationFrame(() =>
        scroller.current?.querySelector<HTMLElement>(`[data-row="${wanted.current}"]`)?.focus(),
      )
    },
    [count, scroller, scrollToIndex],
  )
  const focused = useCallback((index: number) => {
    wanted.current = index
    setActive(index)
  }, [])
  useShortcuts(useMemo(() => moveKeys('call', move), [move]))
  return { active, setActive: focused }
}
