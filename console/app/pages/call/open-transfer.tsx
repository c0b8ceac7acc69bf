import type { Transfer } from '../../../../generated/clients/typescript/models/platform.ts'
import { useCancelTransfer, useCompleteTransfer } from '../../data/calls.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { words } from '../../parts/formats.ts'
import { ActionFault } from '../../parts/notice.tsx'
import { Private } from '../../parts/redaction.tsx'
import styles from './join-bar.module.css'

/** A transfer that is under way: its state, and the ways to end it. */
export function OpenTransfer({ callId, transfer }: { callId: string; transfer: Transfer }) {
  const { id, kind, status, transfer_to: to, label } = transfer
  const complete = useCompleteTransfer(callId)
  const cancel = useCancelTransfer(callId)
  return (
    <section aria-label="Transfer" className={styles.bar}>
      <p role="status">
        {`${kind === 'warm' ? 'Warm' : 'Blind'} transfer to ${label ?? ''} `}
        <Private>{to}</Private> <Badge tone="accent">{words(status)}</Badge>
      </p>
      {kind === 'warm' && status === 'screening' && (
        <Button look="main" disabled={complete.isPending} onClick={() => complete.mutate(id)}>
          Connect the caller now
        </Button>
      )}
      <Button disabled={cancel.isPending} onClick={() => cancel.mutate(id)}>
        Cancel the transfer
      </Button>
      <ActionFault error={complete.error ?? cancel.error} />
    </section>
  )
}

/** The transfer that is under way, if there is one. */
export const openTransferOf = (transfers: readonly Transfer[]) =>
  transfers.findLast(({ completed_at: completedAt }) => completedAt === null)
