import type { ReactNode } from 'react'
import styles from './filter-row.module.css'

/** Draws filters above a list. On narrow screens the row scrolls sideways, so the list stays near the top. */
export function FilterRow({ children }: { children: ReactNode }) {
  return (
    <div className={styles.row} role="group" aria-label="Filters">
      {children}
    </div>
  )
}
