import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useForgotPassword } from '../data/links.ts'
import { methodsQuery } from '../data/session.ts'
import { useTitle } from '../parts/page.tsx'
import { Answer } from '../parts/states.tsx'
import { AddressField, EntryCard, EntryForm, ForgottenNote } from './entry.tsx'

/**
 * Asks for a link that sets a new password. The page shows the same text for every e-mail address, so a visitor does
 * not learn which addresses are known.
 */
export function ForgotPage() {
  useTitle('Forgotten password')
  const methods = useQuery(methodsQuery)
  return (
    <EntryCard>
      <h1>Set a new password</h1>
      <Answer of={methods} rows={2}>
        {({ smtp }) => (smtp ? <AddressForm /> : <ForgottenNote sendsMail={false} />)}
      </Answer>
      <Link to="/login">Back to signing in</Link>
    </EntryCard>
  )
}

function AddressForm() {
  const forgot = useForgotPassword()
  if (forgot.isSuccess)
    return (
      <p role="status">
        If {forgot.variables.email} has an account here, a mail with a link is on its way. The link is good for one
        hour.
      </p>
    )
  return (
    <EntryForm action="Send the link" of={forgot} submit={(values) => forgot.mutate({ email: values.text('email') })}>
      <AddressField autoFocus />
    </EntryForm>
  )
}
