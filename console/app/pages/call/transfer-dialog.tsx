import type { Transfer } from '../../../../generated/clients/typescript/models/platform.ts'
import { useTransferCall } from '../../data/calls.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { SelectField } from '../../parts/field.tsx'
import { onSubmit } from '../../parts/form-values.ts'
import { PhoneField } from '../../parts/phone-field.tsx'
import { Failed } from '../../parts/states.tsx'
import styles from './live-actions.module.css'

const kinds = [
  { value: 'warm', label: 'Warm: the agent asks the person first' },
  { value: 'blind', label: 'Blind: the person who answers gets the caller at once' },
]

type TransferDialogProps = { id: string; to?: string; kind?: Transfer['kind']; onClose: () => void }

/** Asks for the number and the kind. If a transfer is tried again, `to` and `kind` are the values to begin with. */
export function TransferDialog({ id, to, kind, onClose }: TransferDialogProps) {
  const transfer = useTransferCall(id)
  const submit = onSubmit((values) => {
    const isWarm = values.text('kind') === 'warm'
    transfer.mutate({ to: values.text('to'), isWarm }, { onSuccess: onClose })
  })
  return (
    <Dialog title="Transfer this call" onClose={onClose}>
      <form className={styles.form} onSubmit={submit}>
        <PhoneField label="Number" name="to" required placeholder="+12125550123" defaultValue={to} autoFocus />
        <SelectField label="Kind" name="kind" choices={kinds} defaultValue={kind} />
        {transfer.error && <Failed error={transfer.error} />}
        <Button type="submit" look="main" disabled={transfer.isPending}>
          Transfer
        </Button>
      </form>
    </Dialog>
  )
}
