import { useDeleteProviderKey, useStoreProviderKey } from '../../data/providers.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/field.tsx'
import { ConfirmDialog, Form } from '../../parts/form.tsx'

type KeyDialogProps = { provider: string; onClose: () => void }

export function StoreKeyDialog({ provider, onClose }: KeyDialogProps) {
  const stored = useStoreProviderKey()
  return (
    <Dialog title={`Key of ${provider}`} onClose={onClose}>
      <Form
        error={stored.error}
        submit={(values) => stored.mutate({ provider, apiKey: values.text('apiKey') }, { onSuccess: onClose })}
        actions={
          <Button type="submit" look="main" disabled={stored.isPending}>
            Store the key
          </Button>
        }
      >
        <p>
          Requests of this organization then use your account at {provider}, and cost nothing here. The key is kept
          encrypted, and is never shown again.
        </p>
        <TextField label="API key" name="apiKey" type="password" required autoComplete="off" autoFocus />
      </Form>
    </Dialog>
  )
}

export function DeleteKeyDialog({ provider, onClose }: KeyDialogProps) {
  const remove = useDeleteProviderKey(provider)
  return (
    <ConfirmDialog
      title={`Delete the key of ${provider}`}
      action="Delete the key"
      isPending={remove.isPending}
      error={remove.error}
      run={() => remove.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p>The provider is then called with the key of the operator, or not at all without such a key.</p>
    </ConfirmDialog>
  )
}
