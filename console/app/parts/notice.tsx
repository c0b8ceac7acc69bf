import type { ReactNode } from 'react'
import { failureOf } from '../data/failures.ts'
import { issuesOf } from '../data/issues.ts'
import { classes } from './classes.ts'
import styles from './notice.module.css'

type Tone = 'good' | 'warn' | 'alarm' | 'calm'

/** Shows the result of an action, or a state that a person must know. */
export function Notice({ tone, title, children }: { tone: Tone; title?: string; children?: ReactNode }) {
  return (
    <div className={classes(styles.notice, styles[tone])} role={tone === 'alarm' ? 'alert' : 'status'}>
      {title !== undefined && <strong>{title}</strong>}
      {children}
    </div>
  )
}

/** Says why an action failed. Shows nothing without an error. */
export function ActionFault({ error }: { error: unknown }) {
  if (error === null || error === undefined) return null
  const { message, code, requestId } = failureOf(error)
  const issues = issuesOf(error)
  return (
    <Notice tone="alarm" title={message}>
      {issues.length > 0 && (
        <ul>
          {issues.map(({ path, message: text }) => (
            <li key={`${path} ${text}`}>
              <code>{path}</code> {text}
            </li>
          ))}
        </ul>
      )}
      {code !== null && (
        <small>
          <code>{code}</code> {requestId !== null && <code>{requestId}</code>}
        </small>
      )}
    </Notice>
  )
}
