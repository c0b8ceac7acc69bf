import type { PhoneNumber } from '../../../../generated/clients/typescript/models/platform.ts'
import { useChangeNumber, useReleaseNumber } from '../../data/numbers.ts'
import { AgentField } from '../../parts/agent-field.tsx'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/field.tsx'
import { ConfirmDialog, Form } from '../../parts/form.tsx'

type DialogProps = { number: PhoneNumber; onClose: () => void }

export function ChangeDialog({ number: { id, e164, label, agentId }, onClose }: DialogProps) {
  const change = useChangeNumber(id)
  return (
    <Dialog title={`Change ${e164}`} onClose={onClose}>
      <Form
        error={change.error}
        submit={(values) =>
          change.mutate(
            { label: values.optional('label') ?? null, agentId: values.optional('agentId') ?? null },
            { onSuccess: onClose },
          )
        }
        actions={
          <Button type="submit" look="main" disabled={change.isPending}>
            Save
          </Button>
        }
      >
        <TextField label="Name" name="label" maxLength={120} defaultValue={label ?? ''} />
        <AgentField label="Agent that answers" name="agentId" none="No agent" start={agentId} />
      </Form>
    </Dialog>
  )
}

export function ReleaseDialog({ number: { id, e164 }, onClose }: DialogProps) {
  const release = useReleaseNumber(id)
  return (
    <ConfirmDialog
      title={`Release ${e164}`}
      action="Release the number"
      isPending={release.isPending}
      error={release.error}
      run={() => release.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p>Somebody else may get the number. The month that is paid is not refunded.</p>
    </ConfirmDialog>
  )
}
