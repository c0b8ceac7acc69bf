/** Places a page's parts below each other, or beside each other on wide screens. */
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { classes } from './classes.ts'
import styles from './layout.module.css'

export function Stack({ children }: { children: ReactNode }) {
  return <div className={styles.stack}>{children}</div>
}

/** Places a narrower part beside the main part. */
export function Columns({ children }: { children: ReactNode }) {
  return <div className={styles.columns}>{children}</div>
}

/** Places buttons and badges in a line. */
export function Line({ children }: { children: ReactNode }) {
  return <div className={styles.line}>{children}</div>
}

export function Faint({ children }: { children: ReactNode }) {
  return <span className={styles.faint}>{children}</span>
}

type Tab = { name: string; to: string; search?: Record<string, string | undefined>; isCurrent: boolean }

/** Links to the views of one thing. Each view has a separate URL. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  return (
    <nav aria-label={label} className={styles.tabs}>
      {tabs.map(({ name, to, search = {}, isCurrent }) => (
        <Link
          key={name}
          to={to}
          search={search}
          className={classes(styles.tab, isCurrent && styles.current)}
          activeProps={{ 'aria-current': undefined }}
          {...(isCurrent && { 'aria-current': 'page' as const })}
        >
          {name}
        </Link>
      ))}
    </nav>
  )
}
