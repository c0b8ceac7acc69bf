import { ArrowLeftRight, PhoneOff } from 'lucide-react'
import { useState } from 'react'
import { useEndCall } from '../../data/calls.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { RoleButton } from '../../parts/role.tsx'
import { Failed } from '../../parts/states.tsx'
import styles from './live-actions.module.css'
import { TransferDialog } from './transfer-dialog.tsx'

/** Ends or transfers a live call. */
export function LiveActions({ id, canTransfer }: { id: string; canTransfer: boolean }) {
  const [open, setOpen] = useState<'end' | 'transfer' | null>(null)
  const close = () => setOpen(null)
  return (
    <>
      {canTransfer && (
        <RoleButton needs="transferCallBlind" onClick={() => setOpen('transfer')}>
          <ArrowLeftRight aria-hidden="true" />
          Transfer
        </RoleButton>
      )}
      <RoleButton needs="endCall" look="alarm" onClick={() => setOpen('end')}>
        <PhoneOff aria-hidden="true" />
        End
      </RoleButton>
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
