/** The states of a page without data, each as one component: loading, empty, failed and others. */
import type { UseQueryResult } from '@tanstack/react-query'
import { CircleSlash2, CloudOff, Inbox, Lock, type LucideIcon, TriangleAlert } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { type Failure, failureOf } from '../data/failures.ts'
import { Button } from './button.tsx'
import { CopyButton } from './copy-button.tsx'
import styles from './states.module.css'

/** If the data come within this time, no skeleton is shown, because it would only flicker. */
const patienceMs = 150

/** Shows a skeleton until the data come. `rows` should fit the height of the data. */
export function Loading({ rows = 6, label = 'Loading' }: { rows?: number; label?: string }) {
  const [isShown, setShown] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), patienceMs)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div className={styles.loading} role="status" aria-label={label} data-state="loading">
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} className={isShown ? styles.bone : styles.space} />
      ))}
    </div>
  )
}

type Note = { icon: LucideIcon; title: string; state: string; children?: ReactNode }

/** Shows that there are no data yet. The title names the missing data, and `children` lead to the next step. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <Notice icon={Inbox} title={title} state="empty">
      {children}
    </Notice>
  )
}

const looks: Record<Failure['kind'], { icon: LucideIcon; title: string }> = {
  signed_out: { icon: Lock, title: 'You are signed out' },
  forbidden: { icon: Lock, title: 'Your role does not allow this' },
  not_found: { icon: CircleSlash2, title: 'There is nothing at this address' },
  too_many: { icon: TriangleAlert, title: 'Too many requests' },
  offline: { icon: CloudOff, title: 'The server did not answer' },
  failed: { icon: TriangleAlert, title: 'This did not work' },
}

/** Shows an error with its code and the request's id, so a person can ask the operator about it. */
export function Failed({ error, retry }: { error: unknown; retry?: () => void }) {
  const { kind, message, code, requestId } = failureOf(error)
  const isRepeatable = kind === 'offline' || kind === 'failed' || kind === 'too_many'
  return (
    <Notice icon={looks[kind].icon} title={looks[kind].title} state={kind === 'failed' ? 'error' : kind}>
      <p>{message}</p>
      {code !== null && (
        <p className={styles.facts}>
          <code>{code}</code>
          {requestId !== null && <code>{requestId}</code>}
          {requestId !== null && <CopyButton text={requestId} label="Copy the id of the request" />}
        </p>
      )}
      {retry && isRepeatable && <Button onClick={retry}>Try again</Button>}
    </Notice>
  )
}

function Notice({ icon: Icon, title, state, children }: Note) {
  return (
    <div className={styles.notice} data-state={state} role={state === 'empty' ? undefined : 'alert'}>
      <Icon aria-hidden="true" className={styles.icon} />
      <h2>{title}</h2>
      {children}
    </div>
  )
}

type Answered<Data> = {
  of: Pick<UseQueryResult<Data>, 'data' | 'error' | 'refetch'>
  /** The page's heading, for screen readers, until the data bring a heading. */
  heading?: string
  rows?: number
  children: (data: Data) => ReactNode
}

/** Shows a query's data, or its state. Earlier data stay until newer data come. */
export function Answer<Data>({ of: { data, error, refetch }, heading, rows, children }: Answered<Data>) {
  if (data !== undefined) return children(data)
  return (
    <>
      {heading !== undefined && <h1 className="unseen">{heading}</h1>}
      {error ? (
        <Failed error={error} retry={() => void refetch()} />
      ) : (
        <Loading {...(rows !== undefined && { rows })} />
      )}
    </>
  )
}
