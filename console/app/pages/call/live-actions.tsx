import { ArrowLeftRight, PhoneOff } from 'lucide-react'
import { useState } from 'react'
import { useEndCall, useTransferCall } from '../../data/calls.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { SelectField } from '../../parts/field.tsx'
import { onSubmit } from '../../parts/form-values.ts'
import { PhoneField } from '../../parts/phone-field.tsx'
import { Failed } from '../../parts/states.tsx'
import styles from './live-actions.module.css'

/** Ends or transfers a live call. */
export function LiveActions({ id }: { id: string }) {
  const [open, setOpen] = useState<'end' | 'transfer' | null>(null)
  const close = () => setOpen(null)
  return (
    <>
      <Button onClick={() => setOpen('transfer')}>
        <ArrowLeftRight aria-hidden="true" />
        Transfer
      </Button>
      <Button look="alarm" onClick={() => setOpen('end')}>
        <PhoneOff aria-hidden="true" />
        End
      </Button>
      {open === 'end' && <EndDialog id={id} onClose={close} />}
      {open === 'transfer' && <TransferDialog id={id} onClose={close} />}
    </>
  )
}

function EndDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const end = useEndCall(id)
  return (
    <Dialog title="End this call?" onClose={onClose}>
      <div className={styles.form}>
        <p>Both parties are disconnected at once.</p>
        {end.error && <Failed error={end.error} />}
        <Button look="main" disabled={end.isPending} onClick={() => end.mutate(undefined, { onSuccess: onClose })}>
          End the call
        </Button>
      </div>
    </Dialog>
  )
}

const kinds = [
  { value: 'warm', label: 'Warm: the agent asks the person first' },
  { value: 'blind', label: 'Blind: the person who answers gets the caller at once' },
]

function TransferDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const transfer = useTransferCall(id)
  const submit = onSubmit((values) => {
    const isWarm = values.text('kind') === 'warm'
    transfer.mutate({ to: values.text('to'), isWarm }, { onSuccess: onClose })
  })
  return (
    <Dialog title="Transfer this call" onClose={onClose}>
      <form className={styles.form} onSubmit={submit}>
        <PhoneField label="Number" name="to" required placeholder="+12125550123" autoFocus />
        <SelectField label="Kind" name="kind" choices={kinds} />
        {transfer.error && <Failed error={transfer.error} />}
        <Button type="submit" look="main" disabled={transfer.isPending}>
          Transfer
        </Button>
      </form>
    </Dialog>
  )
}
