import { Link } from '@tanstack/react-router'
import { useResetPassword } from '../data/links.ts'
import { useTitle } from '../parts/page.tsx'
import { NewPasswordField } from '../parts/password-field.tsx'
import { EntryCard, EntryForm, useLinkToken } from './entry.tsx'

/** Sets a new password with a link from a mail or from the operator. */
export function ResetPage() {
  useTitle('New password')
  const token = useLinkToken()
  const reset = useResetPassword()
  return (
    <EntryCard>
      <h1>{reset.isSuccess ? 'Your password has changed' : 'Set a new password'}</h1>
      {token === '' && <p role="alert">This link is not complete. Copy the whole link, to its last character.</p>}
      {token !== '' && !reset.isSuccess && <PasswordForm token={token} reset={reset} />}
      {reset.isSuccess && <p role="status">All your sessions and access tokens have ended.</p>}
      <Link to="/login">{reset.isSuccess ? 'Sign in' : 'Back to signing in'}</Link>
    </EntryCard>
  )
}

function PasswordForm({ token, reset }: { token: string; reset: ReturnType<typeof useResetPassword> }) {
  return (
    <EntryForm
      action="Set the password"
      of={reset}
      submit={(values) => reset.mutate({ token, password: values.password() })}
    >
      <NewPasswordField />
    </EntryForm>
  )
}
