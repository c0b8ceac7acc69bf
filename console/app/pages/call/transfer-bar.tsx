import { RotateCcw, X } from 'lucide-react'
import { useState } from 'react'
import type { Call, CallEvent, Transfer } from '../../../../generated/clients/typescript/models/platform.ts'
import { useCancelTransfer, useCompleteTransfer } from '../../data/calls.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { ActionFault } from '../../parts/notice.tsx'
import { useMask } from '../../parts/redaction.tsx'
import styles from './join-bar.module.css'
import { TransferDialog } from './transfer-dialog.tsx'
import { openTransferOf, outcomeOf, recipientOf, statusWords } from './transfer-words.ts'

type TransferBarProps = {
  call: Call
  events: readonly CallEvent[]
  /** True if the person who looks at the page speaks in the call. */
  isSpeaking: boolean
}

/** Shows the newest transfer of a live call: its progress, and then its outcome until the person closes the bar. */
export function TransferBar({ call, events, isSpeaking }: TransferBarProps) {
  const [closedId, setClosedId] = useState<string | null>(null)
  const mask = useMask()
  const open = openTransferOf(call)
  const newest = call.transfers.at(-1)
  if (open) return <OpenTransfer key={open.id} callId={call.id} transfer={open} />
  if (newest === undefined || newest.id === closedId) return null
  const outcome = outcomeOf(newest, { events, isSpeaking }, mask)
  return <ClosedTransfer key={newest.id} transfer={newest} outcome={outcome} onClose={() => setClosedId(newest.id)} />
}

/** Shows a transfer under way: its state, and the ways to end it. */
function OpenTransfer({ callId, transfer }: { callId: string; transfer: Transfer }) {
  const { id, kind, status } = transfer
  const mask = useMask()
  const complete = useCompleteTransfer(callId)
  const cancel = useCancelTransfer(callId)
  return (
    <section aria-label="Transfer" className={styles.bar}>
      <p role="status">
        {`${kind === 'warm' ? 'Warm' : 'Blind'} transfer to ${recipientOf(transfer, mask)} `}
        <Badge tone="accent">{statusWords[status]}</Badge>
        {kind === 'warm' ? ' The caller is on hold.' : ' The caller waits.'}
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

type ClosedTransferProps = { transfer: Transfer; outcome: string; onClose: () => void }

function ClosedTransfer({ transfer, outcome, onClose }: ClosedTransferProps) {
  const [isTrying, setTrying] = useState(false)
  return (
    <section aria-label="Transfer" className={styles.bar}>
      <p role="status">{outcome}</p>
      {transfer.status === 'failed' && (
        <Button onClick={() => setTrying(true)}>
          <RotateCcw aria-hidden="true" />
          Try again
        </Button>
      )}
      <Button look="quiet" isSmall aria-label="Close" onClick={onClose}>
        <X aria-hidden="true" />
      </Button>
      {isTrying && (
        <TransferDialog
          id={transfer.session_id}
          to={transfer.transfer_to}
          kind={transfer.kind}
          onClose={() => setTrying(false)}
        />
      )}
    </section>
  )
}
