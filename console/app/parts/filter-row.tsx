import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import styles from './filter-row.module.css'

type RowProps = {
  /** Removes all filters. Null: no filter is set, or the page always has filters. */
  clear?: (() => void) | null
  children: ReactNode
}

/** Draws filters above a list. On narrow screens the row scrolls sideways, so the list stays near the top. */
export function FilterRow({ clear = null, children }: RowProps) {
  return (
    <div className={styles.row} role="group" aria-label="Filters">
      {children}
      {clear && (
        <Button look="quiet" onClick={clear}>
          <X aria-hidden="true" />
          Clear
        </Button>
      )}
    </div>
  )
}
