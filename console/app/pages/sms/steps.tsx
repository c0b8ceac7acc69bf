import { type ReactNode, useState } from 'react'
import type { SmsReviewError } from '../../../../generated/clients/typescript/models/platform.ts'
import { Badge, type Tone } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { ConfirmDialog } from '../../parts/form.tsx'
import { Line } from '../../parts/layout.tsx'
import { Notice } from '../../parts/notice.tsx'
import { SimulatedCarrier } from '../../parts/simulated-carrier.tsx'
import styles from './steps.module.css'

export function Steps({ children }: { children: ReactNode }) {
  return <ol className={styles.steps}>{children}</ol>
}

export type StepState = { text: string; tone: Tone }

/** A step that waits for an earlier step. */
export const later: StepState = { text: 'later', tone: 'plain' }

/** One step with its state in words. The surrounding list adds the step's number. */
export function Step({ title, state, children }: { title: string; state: StepState; children?: ReactNode }) {
  return (
    <li className={styles.step}>
      <header className={styles.header}>
        <h2>{title}</h2>
        <Badge tone={state.tone}>{state.text}</Badge>
      </header>
      {children}
    </li>
  )
}

/** Shows each refused field with the registry's reason. */
export function ReviewErrors({ errors }: { errors: readonly SmsReviewError[] }) {
  if (errors.length === 0) return null
  return (
    <Notice tone="alarm" title="The registry refused this">
      <ul>
        {errors.map(({ field, message }) => (
          <li key={`${field} ${message}`}>
            {field !== null && <code>{field}</code>} {message}
          </li>
        ))}
      </ul>
    </Notice>
  )
}

/** The form of a step. It is closed once the step is done. */
export function Fold({ label, isOpen, children }: { label: string; isOpen: boolean; children: ReactNode }) {
  return (
    <details className={styles.fold} open={isOpen}>
      <summary>{label}</summary>
      {children}
    </details>
  )
}

type SubmitProps = {
  title: string
  /** The label of the button that submits. */
  action: string
  /** The dialog starts this mutation. */
  of: { isPending: boolean; error: Error | null }
  /** `key` is the same for each attempt in one dialog. */
  submit: (key: string, done: () => void) => void
  children: ReactNode
}

/** Submits a registration after a question, because a registration is paid. */
export function SubmitButton({ title, action, of: { isPending, error }, submit, children }: SubmitProps) {
  const [key, setKey] = useState<string | null>(null)
  const close = () => setKey(null)
  return (
    <Line>
      <Button look="main" onClick={() => setKey(crypto.randomUUID())}>
        {title}
      </Button>
      {key !== null && (
        <ConfirmDialog
          title={title}
          action={action}
          isPending={isPending}
          error={error}
          run={() => submit(key, close)}
          onClose={close}
        >
          <p>{children}</p>
          <SimulatedCarrier />
        </ConfirmDialog>
      )}
    </Line>
  )
}
