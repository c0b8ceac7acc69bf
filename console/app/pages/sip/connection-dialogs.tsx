import type { SipCheckError, SipConnection } from '../../../../generated/clients/typescript/models/platform.ts'
import { type useCheckTrunk, useImportNumber, useRemoveTrunk } from '../../data/sip-connections.ts'
import { AgentField } from '../../parts/agent-field.tsx'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { ConfirmDialog, Form } from '../../parts/form.tsx'
import { milliseconds } from '../../parts/formats.ts'
import { LinkButton } from '../../parts/link-button.tsx'
import { ActionFault, Notice } from '../../parts/notice.tsx'
import { PhoneField } from '../../parts/phone-field.tsx'

type ConnectionProps = { connection: SipConnection; onClose: () => void }

/** A number with an agent takes calls and makes calls. A number without an agent only makes calls. */
export function ImportDialog({ connection: { id, name, provider }, onClose }: ConnectionProps) {
  const imported = useImportNumber()
  return (
    <Dialog title={`Import a number of ${name}`} onClose={onClose}>
      {imported.data ? (
        <Notice tone="good" title={`${imported.data.e164} is imported.`}>
          <p>To test the trunk, let an agent call your phone, or call this number.</p>
          <LinkButton to="/numbers">See the number</LinkButton>
        </Notice>
      ) : (
        <Form
          error={imported.error}
          submit={(values) => {
            const agentId = values.optional('agentId') ?? null
            imported.mutate({
              e164: values.text('e164'),
              sipConnectionInstallationId: id,
              sipProviderName: provider,
              agentId,
              direction: agentId === null ? 'outbound' : 'both',
            })
          }}
          actions={
            <Button type="submit" look="main" disabled={imported.isPending}>
              Import the number
            </Button>
          }
        >
          <PhoneField label="Number" name="e164" required autoFocus />
          <AgentField label="Agent that answers" name="agentId" none="None: the number only calls" />
        </Form>
      )}
    </Dialog>
  )
}

type CheckDialogProps = ConnectionProps & { check: ReturnType<typeof useCheckTrunk> }

export function CheckDialog({ connection: { name }, check: { data, error }, onClose }: CheckDialogProps) {
  return (
    <Dialog title={`Check of ${name}`} onClose={onClose}>
      <ActionFault error={error} />
      {!data && !error && <p role="status">Waiting for an answer, for at most 5 s…</p>}
      {data && (
        <Notice
          tone={data.ok ? 'good' : 'alarm'}
          title={data.error === null ? 'The trunk answers.' : faults[data.error]}
        >
          {data.sipStatusCode !== null && (
            <p>
              <code>
                {data.sipStatusCode} {data.sipStatus}
              </code>
              {data.roundTripMs !== null && ` after ${milliseconds(data.roundTripMs)}`}
            </p>
          )}
        </Notice>
      )}
    </Dialog>
  )
}

const faults: Record<SipCheckError, string> = {
  timeout: 'The trunk does not answer.',
  unreachable: 'This server cannot call the address of the host.',
  dns: 'The host has no address.',
  refused: 'The trunk refuses.',
}

export function RemoveDialog({ connection: { id, name, numbers }, onClose }: ConnectionProps) {
  const remove = useRemoveTrunk(id)
  return (
    <ConfirmDialog
      title={`Remove ${name}`}
      action="Remove the connection"
      isPending={remove.isPending}
      error={remove.error}
      run={() => remove.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p>{numbers > 0 ? 'Its numbers must be removed before.' : 'Live calls go on.'}</p>
    </ConfirmDialog>
  )
}
