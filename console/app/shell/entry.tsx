/** Parts of the pages for people without a session: signing in, an invitation, a new password. */
import { Link, useLocation } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ConsoleMethods } from '../../../generated/console/types.ts'
import buttonStyles from '../parts/button.module.css'
import { Button } from '../parts/button.tsx'
import { TextField } from '../parts/field.tsx'
import { type FormValues, onSubmit } from '../parts/form-values.ts'
import styles from './entry.module.css'
import { Mark } from './mark.tsx'

export function EntryCard({ children }: { children: ReactNode }) {
  return (
    <main className={styles.place}>
      <div className={styles.card}>
        <Mark />
        {children}
      </div>
    </main>
  )
}

type EntryFormProps = {
  action: string
  /** The form starts this mutation. */
  of: { isPending: boolean; error: Error | null }
  submit: (values: FormValues) => void
  children: ReactNode
}

/** Draws a form with one button. An error appears above the button. */
export function EntryForm({ action, of: { isPending, error }, submit, children }: EntryFormProps) {
  return (
    <form className={styles.form} onSubmit={onSubmit(submit)}>
      {children}
      {error && <p role="alert">{error.message}</p>}
      <Button type="submit" look="main" disabled={isPending}>
        {action}
      </Button>
    </form>
  )
}

/** Asks for the e-mail address with which a person signs in. */
export function AddressField({ autoFocus = false }: { autoFocus?: boolean }) {
  return (
    <TextField
      label="E-mail"
      name="email"
      type="email"
      autoComplete="username"
      required
      maxLength={254}
      autoFocus={autoFocus}
    />
  )
}

/** Links to the providers. The links are plain, because the browser leaves this page. */
export function ProviderLinks({ providers, returnTo }: { providers: ConsoleMethods['oidc']; returnTo: string }) {
  return providers.map(({ id, name }) => (
    <a
      key={id}
      className={buttonStyles.button}
      href={`/console/auth/oidc/${id}/start?returnTo=${encodeURIComponent(returnTo)}`}
    >
      {name}
    </a>
  ))
}

export function ForgottenNote({ sendsMail }: { sendsMail: boolean }) {
  if (sendsMail)
    return (
      <p className={styles.note}>
        No password yet, or forgotten? <Link to="/forgot">Ask for a link</Link>
      </p>
    )
  return (
    <p className={styles.note}>
      No password yet, or forgotten? Ask the operator for a link: <code>parley users reset</code> prints one.
    </p>
  )
}

/** Returns the token behind the `#` of the link. The browser does not send this part to any server. */
export const useLinkToken = () => useLocation({ select: ({ hash }) => hash })
