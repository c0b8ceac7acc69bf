import type { ApiKey, Scope } from '../../../../generated/clients/typescript/models/platform.ts'
import { useCreateKey, useRevokeKey, useRotateKey } from '../../data/keys.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { SelectField, TextField } from '../../parts/field.tsx'
import { CheckField, ConfirmDialog, FieldGroup, Form } from '../../parts/form.tsx'
import { Once } from '../../parts/once.tsx'

const scopes: readonly { value: Scope; note: string }[] = [
  { value: 'router', note: 'Speech and answers from models.' },
  { value: 'platform', note: 'Agents, calls, numbers and webhooks.' },
  { value: 'realtime', note: 'Sockets for browsers and apps.' },
  { value: 'rmsg', note: 'Rich messages.' },
  { value: 'admin', note: 'Keys, members, secrets and settings.' },
]

const note = 'Store it now. It is not shown again.'

export function NewKeyDialog({ onClose }: { onClose: () => void }) {
  const created = useCreateKey()
  return (
    <Dialog title="New key" onClose={onClose}>
      {created.data ? (
        <Once
          title={`The secret of ${created.data.name}`}
          text={created.data.secret}
          label="Copy the secret"
          note={note}
        />
      ) : (
        <Form
          error={created.error}
          submit={(values) =>
            created.mutate({
              name: values.text('name'),
              scopes: values.all('scopes') as Scope[],
              test: values.has('test'),
            })
          }
          actions={
            <Button type="submit" look="main" disabled={created.isPending}>
              Make the key
            </Button>
          }
        >
          <TextField label="Name" name="name" required maxLength={200} placeholder="shop" />
          <FieldGroup label="Scopes">
            {scopes.map(({ value, note: text }) => (
              <CheckField
                key={value}
                label={value}
                note={text}
                name="scopes"
                value={value}
                defaultChecked={value === 'platform' || value === 'router'}
              />
            ))}
          </FieldGroup>
          <CheckField label="A test key" note="It reaches only simulators and embedded engines." name="test" />
        </Form>
      )}
    </Dialog>
  )
}

const overlaps = [
  { value: '86400', label: 'a day' },
  { value: '3600', label: 'an hour' },
  { value: '604800', label: 'a week' },
  { value: '0', label: 'no time: it has leaked' },
]

type KeyDialogProps = { apiKey: ApiKey; onClose: () => void }

export function RotateDialog({ apiKey: { id, name }, onClose }: KeyDialogProps) {
  const rotated = useRotateKey(id)
  return (
    <Dialog title={`Rotate ${name}`} onClose={onClose}>
      {rotated.data ? (
        <Once title={`The new secret of ${name}`} text={rotated.data.secret} label="Copy the secret" note={note} />
      ) : (
        <Form
          error={rotated.error}
          submit={(values) => rotated.mutate(Number(values.text('overlap')))}
          actions={
            <Button type="submit" look="main" disabled={rotated.isPending}>
              Make a new secret
            </Button>
          }
        >
          <SelectField label="The old secret also works for" name="overlap" choices={overlaps} />
        </Form>
      )}
    </Dialog>
  )
}

export function RevokeDialog({ apiKey: { id, name }, onClose }: KeyDialogProps) {
  const revoke = useRevokeKey(id)
  return (
    <ConfirmDialog
      title={`Revoke ${name}`}
      action="Revoke the key"
      isPending={revoke.isPending}
      error={revoke.error}
      run={() => revoke.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p>Programs with this key are refused at once, and their open work ends. It cannot be undone.</p>
    </ConfirmDialog>
  )
}
