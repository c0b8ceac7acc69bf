import { RotateCcw, X } from 'lucide-react'
import { useLayoutEffect, useRef, useState } from 'react'
import type { Call, CallEvent, Transfer } from '../../../../generated/clients/typescript/models/platform.ts'
import { useCancelTransfer, useCompleteTransfer } from '../../data/calls.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { ActionFault } from '../../parts/notice.tsx'
import { useMask } from '../../parts/redaction.tsx'
import { RoleButton } from '../../parts/role.tsx'
import styles from './join-bar.module.css'
import { fallbackOf, retryOf } from './transfer-again.ts'
import { TransferDialog } from './transfer-dialog.tsx'
import { openTransferOf, outcomeOf, recipientOf, statusWords } from './transfer-words.ts'

type TransferBarProps = {
  call: Call
  events: readonly CallEvent[]
  /** True if the person who looks at the page speaks in the call. */
  isSpeaking: boolean
  canTransfer: boolean
}

/**
 * Shows a live call's newest transfer: its progress, and then its outcome until the person closes the bar. Both texts
 * have the same status element, because many screen readers announce only changes inside an element.
 */
export function TransferBar({ call, events, isSpeaking, canTransfer }: TransferBarProps) {
  const [closedId, setClosedId] = useState<string | null>(null)
  /** The failed attempt to repeat. The dialog stays if another transfer begins meanwhile. */
  const [again, setAgain] = useState<Transfer | null>(null)
  const mask = useMask()
  const open = openTransferOf(call)
  const shown = open ?? call.transfers.at(-1)
  const { area, status } = useKeptFocus(`${shown?.id} ${shown?.status} ${again?.id}`)
  if (shown === undefined || (shown.id === closedId && again === null)) return null
  const canTryAgain = canTransfer && shown.status === 'failed' && fallbackOf(shown, events)?.strategy !== 'end_call'
  return (
    <section aria-label="Transfer" className={styles.bar} {...area}>
      <p role="status" tabIndex={-1} ref={status}>
        {open ? <Progress transfer={open} /> : outcomeOf(shown, { events, isSpeaking }, mask)}
      </p>
      {open && <OpenButtons key={open.id} callId={call.id} transfer={open} />}
      {canTryAgain && (
        <RoleButton needs="transferCallBlind" onClick={() => setAgain(shown)}>
          <RotateCcw aria-hidden="true" />
          Try again
        </RoleButton>
      )}
      {!open && (
        <Button look="quiet" isSmall aria-label="Close the note on the transfer" onClick={() => setClosedId(shown.id)}>
          <X aria-hidden="true" />
        </Button>
      )}
      {again && <TransferDialog id={call.id} again={retryOf(again, events)} onClose={() => setAgain(null)} />}
    </section>
  )
}

function Progress({ transfer }: { transfer: Transfer }) {
  const mask = useMask()
  const { kind, status } = transfer
  return (
    <>
      {`${kind === 'warm' ? 'Warm' : 'Blind'} transfer to ${recipientOf(transfer, mask)} `}
      <Badge tone="accent">{statusWords[status]}</Badge>
      {kind === 'warm' ? ' The caller is on hold.' : ' The caller waits.'}
    </>
  )
}

/** The ways to end a transfer. */
function OpenButtons({ callId, transfer: { id, kind, status } }: { callId: string; transfer: Transfer }) {
  const complete = useCompleteTransfer(callId)
  const cancel = useCancelTransfer(callId)
  return (
    <>
      {kind === 'warm' && status === 'screening' && (
        <RoleButton
          needs="completeTransfer"
          look="main"
          disabled={complete.isPending}
          onClick={() => complete.mutate(id)}
        >
          Connect the caller now
        </RoleButton>
      )}
      <RoleButton needs="cancelTransfer" disabled={cancel.isPending} onClick={() => cancel.mutate(id)}>
        Cancel the transfer
      </RoleButton>
      <ActionFault error={complete.error ?? cancel.error} />
    </>
  )
}

/** If a new state removes the focused element from the area, the status gets the focus. */
function useKeptFocus(state: string) {
  const status = useRef<HTMLParagraphElement>(null)
  const isInside = useRef(false)
  useLayoutEffect(() => {
    if (isInside.current && document.activeElement === document.body) status.current?.focus({ preventScroll: true })
  }, [state])
  const onFocus = () => void (isInside.current = true)
  // If a button is disabled or removed, no other element gets the focus.
  const onBlur = ({ relatedTarget }: React.FocusEvent) => void (isInside.current &&= relatedTarget === null)
  return { status, area: { onFocus, onBlur } }
}
