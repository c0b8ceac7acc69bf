import { useQuery } from '@tanstack/react-query'
import { type RouterHistory, useRouter } from '@tanstack/react-router'
import type { ConsoleMethods } from '../../../generated/console/types.ts'
import { methodsQuery, useSetUp, useSignIn } from '../data/session.ts'
import { useSearchValues } from '../parts/address.ts'
import { TextField } from '../parts/field.tsx'
import { useTitle } from '../parts/page.tsx'
import { NewPasswordField } from '../parts/password-field.tsx'
import { Answer } from '../parts/states.tsx'
import styles from './entry.module.css'
import { AddressField, EntryCard, EntryForm, ForgottenNote, ProviderLinks } from './entry.tsx'

/** Signs a person in. The first person of a server makes an account here. */
export function SignInPage() {
  useTitle('Sign in')
  const methods = useQuery(methodsQuery)
  return (
    <EntryCard>
      <Answer of={methods} rows={4}>
        {(data) => (data.setup ? <SetUpForm needsCode={data.code} /> : <SignInForm methods={data} />)}
      </Answer>
    </EntryCard>
  )
}

const errors: Readonly<Record<string, string>> = {
  oidc_state: 'The sign-in was begun in another browser, or took too long. Try again.',
  oidc_denied: 'The provider refused the sign-in.',
  oidc_no_account: 'Nobody has invited this account. Ask an administrator of your organization.',
  oidc_unverified: 'The provider has not verified your e-mail address.',
}

function SignInForm({ methods }: { methods: ConsoleMethods }) {
  const { error: code } = useSearchValues()
  const next = useNext()
  const problem = typeof code === 'string' ? errors[code] : undefined
  return (
    <>
      <h1>Sign in to Parley</h1>
      {problem !== undefined && <p role="alert">{problem}</p>}
      <ProviderLinks providers={methods.oidc} returnTo={next} />
      {methods.password && <PasswordForm />}
      {methods.password && <ForgottenNote sendsMail={methods.smtp} />}
    </>
  )
}

function PasswordForm() {
  const signIn = useSignIn()
  const goOn = useGoOn()
  return (
    <EntryForm
      action={signIn.isPending ? 'Signing in…' : 'Sign in'}
      of={signIn}
      submit={(values) => {
        const body = { email: values.text('email'), password: values.password() }
        signIn.mutate(body, { onSuccess: goOn })
      }}
    >
      <AddressField autoFocus />
      <TextField label="Password" name="password" type="password" autoComplete="current-password" required />
    </EntryForm>
  )
}

function SetUpForm({ needsCode }: { needsCode: boolean }) {
  const setUp = useSetUp()
  const goOn = useGoOn()
  return (
    <EntryForm
      action="Make the account"
      of={setUp}
      submit={(values) => {
        const code = values.optional('code')
        const person = { email: values.text('email'), name: values.text('name'), password: values.password() }
        setUp.mutate({ ...person, ...(code !== undefined && { code }) }, { onSuccess: goOn })
      }}
    >
      <h1>Make the first account</h1>
      <p className={styles.note}>It owns this server's organization, and can invite others.</p>
      <TextField label="Name" name="name" autoComplete="name" required maxLength={120} autoFocus />
      <AddressField />
      <NewPasswordField />
      {needsCode && (
        <TextField
          label="Code"
          name="code"
          required
          autoComplete="off"
          note="parley up prints the code when it starts."
        />
      )}
    </EntryForm>
  )
}

/** Returns the page to show after the sign-in. A URL outside this console is ignored. */
function useNext(): string {
  const { next } = useSearchValues()
  return typeof next === 'string' && /^\/console(\/(?!\/)|$|\?)/.test(next) ? next : '/console'
}

function useGoOn(): () => void {
  const { history } = useRouter() as { history: RouterHistory }
  const next = useNext()
  return () => history.push(next)
}
