import type { ReactNode } from 'react'
import styles from './badge.module.css'
import { classes } from './classes.ts'

export type Tone = 'plain' | 'good' | 'warn' | 'alarm' | 'calm' | 'accent'

/** Shows a state in a word. `isLive` adds a dot that pulses. */
export function Badge({
  tone = 'plain',
  isLive = false,
  children,
}: {
  tone?: Tone
  isLive?: boolean
  children: ReactNode
}) {
  return (
    <span className={classes(styles.badge, styles[tone])}>
      {isLive && <span className={styles.dot} aria-hidden="true" />}
      {children}
    </span>
  )
}
