import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import type { ConsoleSession, OpenInvitation } from '../../../generated/console/types.ts'
import { invitationQuery, useAcceptInvitation } from '../data/links.ts'
import { methodsQuery, sessionQuery } from '../data/session.ts'
import { TextField } from '../parts/field.tsx'
import { useTitle } from '../parts/page.tsx'
import { NewPasswordField } from '../parts/password-field.tsx'
import { Answer } from '../parts/states.tsx'
import styles from './entry.module.css'
import { EntryCard, EntryForm, ForgottenNote, ProviderLinks, useLinkToken } from './entry.tsx'

/** Shows an invitation. A new person chooses a name and a password. A known person signs in. */
export function InvitePage() {
  useTitle('Invitation')
  const token = useLinkToken()
  const invitation = useQuery(invitationQuery(token))
  return (
    <EntryCard>
      <Answer of={invitation} heading="Invitation" rows={4}>
        {(data) => (data === null ? <DeadLink /> : <Invitation token={token} invitation={data} />)}
      </Answer>
    </EntryCard>
  )
}

function DeadLink() {
  return (
    <>
      <h1>This link is no longer good</h1>
      <p>
        It has been used, replaced, or has expired, or it is not complete. Ask the person who invited you for a new
        link.
      </p>
      <Link to="/login">Sign in</Link>
    </>
  )
}

function Invitation({ token, invitation }: { token: string; invitation: OpenInvitation }) {
  const session = useQuery(sessionQuery)
  const { organizationName, role, invitedBy, email } = invitation
  return (
    <>
      <h1>Join {organizationName}</h1>
      <p className={styles.note}>
        {invitedBy ?? 'An administrator'} invites {email} as {role}.
      </p>
      <Answer of={session} rows={2}>
        {(data) => <AcceptForm token={token} invitation={invitation} session={data} />}
      </Answer>
    </>
  )
}

type AcceptFormProps = { token: string; invitation: OpenInvitation; session: ConsoleSession | null }

function AcceptForm({ token, invitation: { email, name: proposed, needsPassword }, session }: AcceptFormProps) {
  const accept = useAcceptInvitation()
  const navigate = useNavigate()
  const isSignedIn = session?.user.email === email
  return (
    <>
      <EntryForm
        action="Accept the invitation"
        of={accept}
        submit={(values) => {
          const password = values.password()
          // The server keeps a known person's name.
          const name = needsPassword ? values.text('name') : 'me'
          const show = () => void navigate({ to: '/' })
          accept.mutate({ token, name, ...(password !== '' && { password }) }, { onSuccess: show })
        }}
      >
        {needsPassword && (
          <TextField
            label="Name"
            name="name"
            autoComplete="name"
            defaultValue={proposed ?? ''}
            required
            maxLength={120}
            autoFocus
          />
        )}
        {/* A password manager stores the password together with this e-mail address. */}
        <input type="hidden" name="email" autoComplete="username" value={email} />
        {needsPassword ? <NewPasswordField /> : !isSignedIn && <PasswordField email={email} />}
      </EntryForm>
      {!isSignedIn && <OtherWays needsPassword={needsPassword} />}
    </>
  )
}

function PasswordField({ email }: { email: string }) {
  return (
    <TextField
      label="Password"
      name="password"
      type="password"
      autoComplete="current-password"
      required
      maxLength={1024}
      note={`The password that ${email} has here already.`}
    />
  )
}

/** Offers the providers, because signing in with a provider accepts the invitation too. */
function OtherWays({ needsPassword }: { needsPassword: boolean }) {
  const methods = useQuery(methodsQuery)
  return (
    <Answer of={methods} rows={1}>
      {({ oidc, smtp }) => (
        <>
          <ProviderLinks providers={oidc} returnTo="/console" />
          {!needsPassword && <ForgottenNote sendsMail={smtp} />}
        </>
      )}
    </Answer>
  )
}
