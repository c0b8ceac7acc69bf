import { useState } from 'react'
import { useChangePassword, useRename } from '../../data/account.ts'
import { useSession } from '../../data/session.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { TextField } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { Columns, Stack } from '../../parts/layout.tsx'
import { Notice } from '../../parts/notice.tsx'
import { Page } from '../../parts/page.tsx'
import { NewPasswordField } from '../../parts/password-field.tsx'
import { MySessions } from './my-sessions.tsx'

/** The person's name and password, and where the person is signed in. */
export function AccountPage() {
  const { user } = useSession()
  return (
    <Page
      title="Your account"
      lead={`You are signed in as ${user.email}. This account is the same in all organizations.`}
    >
      <Columns>
        <MySessions />
        <Stack>
          <NameCard name={user.name ?? ''} />
          <PasswordCard />
        </Stack>
      </Columns>
    </Page>
  )
}

function NameCard({ name }: { name: string }) {
  const rename = useRename()
  return (
    <Card title="Name">
      <Form
        error={rename.error}
        submit={(values) => rename.mutate(values.text('name'))}
        actions={
          <Button type="submit" disabled={rename.isPending}>
            Save the name
          </Button>
        }
      >
        <TextField label="Name" name="name" required maxLength={120} defaultValue={name} autoComplete="name" />
        {rename.isSuccess && <Notice tone="good" title="The name is saved." />}
      </Form>
    </Card>
  )
}

function PasswordCard() {
  const { method, user } = useSession()
  const change = useChangePassword()
  const [changes, setChanges] = useState(0)
  if (method !== 'password') return null
  return (
    <Card title="Password">
      <Form
        // A new form is empty, so no password stays on the page.
        key={changes}
        error={change.error}
        submit={(values) =>
          change.mutate(
            { current: values.password('current'), password: values.password('password') },
            { onSuccess: () => setChanges(changes + 1) },
          )
        }
        actions={
          <Button type="submit" disabled={change.isPending}>
            Change the password
          </Button>
        }
      >
        <input type="email" autoComplete="username" value={user.email} readOnly hidden />
        <TextField label="Present password" name="current" type="password" required autoComplete="current-password" />
        <NewPasswordField label="New password" note="Your other sessions end." />
        {change.isSuccess && <Notice tone="good" title="The password is changed, and all other sessions have ended." />}
      </Form>
    </Card>
  )
}
