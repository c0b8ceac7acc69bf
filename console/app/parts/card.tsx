import type { ReactNode } from 'react'
import styles from './card.module.css'

/** Draws a frame around a part of a page. With `isFlush`, a table reaches the frame. */
export function Card({
  title,
  actions,
  isFlush = false,
  children,
}: {
  title?: string
  actions?: ReactNode
  isFlush?: boolean
  children: ReactNode
}) {
  return (
    <section className={styles.card} {...(title !== undefined && { 'aria-label': title })}>
      {title !== undefined && (
        <header className={styles.header}>
          <h2>{title}</h2>
          {actions}
        </header>
      )}
      <div className={isFlush ? undefined : styles.body}>{children}</div>
    </section>
  )
}
