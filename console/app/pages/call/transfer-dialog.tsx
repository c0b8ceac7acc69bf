import { useState } from 'react'
import { type NewTransfer, useTransferCall } from '../../data/calls.ts'
import { useSession } from '../../data/session.ts'
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

type TransferDialogProps = { id: string; again?: NewTransfer; onClose: () => void }

/** Asks for the number and the kind. `again` is the request of a failed transfer that is tried again. */
export function TransferDialog({ id, again, onClose }: TransferDialogProps) {
  const transfer = useTransferCall(id)
  const isSimulated = useSession().server.simulatedCarrier
  const [kind, setKind] = useState<NewTransfer['kind']>(again?.kind ?? 'warm')
  const submit = onSubmit((values) => {
    transfer.mutate({ kind, ...changed(again, values.text('to')) }, { onSuccess: onClose })
  })
  return (
    <Dialog title="Transfer this call" onClose={onClose}>
      <form className={styles.form} onSubmit={submit}>
        <PhoneField
          label="Number"
          name="to"
          required
          defaultValue={again?.destination.to}
          autoFocus
          note={isSimulated ? 'The simulated +15005550017 accepts a transfer, and …0018 declines it.' : undefined}
        />
        <SelectField
          label="Kind"
          name="kind"
          choices={kinds}
          value={kind}
          onChange={({ target }) => setKind(target.value === 'warm' ? 'warm' : 'blind')}
        />
        {again?.kind === 'warm' && kind === 'warm' && (
          <p>The agent says the same prompt and a new summary, and the fallback stays the same.</p>
        )}
        {transfer.error && <Failed error={transfer.error} />}
        <Button type="submit" look="main" disabled={transfer.isPending}>
          Transfer
        </Button>
      </form>
    </Dialog>
  )
}

/** The label names the person at the number, so another number has no label. */
function changed(again: NewTransfer | undefined, to: string): Omit<NewTransfer, 'kind'> {
  if (again === undefined) return { destination: { to }, fallback: null }
  const { destination, fallback } = again
  const label = to === destination.to ? {} : { label: null }
  return { destination: { ...destination, to, ...label }, fallback }
}
