/** Shows a page's states: loading, empty, failed. */
import type { UseQueryResult } from '@tanstack/react-query'
import { CircleSlash2, CloudOff, Inbox, Lock, type LucideIcon, TriangleAlert } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { type Failure, failureOf } from '../data/failures.ts'
import { Button } from './button.tsx'
import { CopyButton } from './copy-button.tsx'
import styles from './states.module.css'

/** If the answer comes within this time, the grey bars do not flicker. */
const patienceMs = 150

/** Shows grey bars until the data come. `rows` is about the data's height. */
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

/** Shows that a list is empty. `children` lead to the next step. */
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

/** Shows an error with its code, and the request's id for a question to the operator. */
export function Failed({ error, retry }: { error: unknown; retry?: () => void }) {
  const { kind, message, code, requestId } = failureOf(error)
  return (
    <Notice icon={looks[kind].icon} title={looks[kind].title} state={kind === 'failed' ? 'error' : kind}>
      {kind !== 'offline' && <p>{message}</p>}
      {code !== null && (
        <p className={styles.facts}>
          <code>{code}</code>
          {requestId !== null && <code>{requestId}</code>}
          {requestId !== null && <CopyButton text={requestId} label="Copy the id of the request" />}
        </p>
      )}
      {retry && isRepeatable(kind) && <Button onClick={retry}>Try again</Button>}
    </Notice>
  )
}

const isRepeatable = (kind: Failure['kind']) => kind === 'offline' || kind === 'failed' || kind === 'too_many'

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
  of: Pick<UseQueryResult<Data>, 'data' | 'error'> & { refetch: () => unknown }
  /** Until the data come, only screen readers have this heading. */
  heading?: string
  rows?: number
  children: (data: Data) => ReactNode
}

/**
 * Shows a query's data, or its state. Earlier data stay until newer data come, and a note says if they cannot be read.
 * But if the thing is deleted, or the person may no longer see it, the data go.
 */
export function Answer<Data>({ of: { data, error, refetch }, heading, rows, children }: Answered<Data>) {
  if (data !== undefined && !isGone(error))
    return (
      <>
        {error && <OldData error={error} retry={() => void refetch()} />}
        {children(data)}
      </>
    )
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

function isGone(error: unknown): boolean {
  const { kind } = failureOf(error)
  return kind === 'not_found' || kind === 'forbidden'
}

function OldData({ error, retry }: { error: unknown; retry: () => void }) {
  const { kind } = failureOf(error)
  if (!isRepeatable(kind)) return null
  return (
    <div className={styles.old} role="status">
      <CloudOff aria-hidden="true" />
      <span>{looks[kind].title}. What you see may be old.</span>
      <Button isSmall onClick={retry}>
        Try again
      </Button>
    </div>
  )
}
