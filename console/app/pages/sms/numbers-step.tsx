import type { SmsRegisteredNumber, SmsRegistration } from '../../../../generated/clients/typescript/models/platform.ts'
import { useAssignNumber, useUnassignNumber } from '../../data/sms.ts'
import { Badge, type Tone } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { words } from '../../parts/formats.ts'
import { Faint } from '../../parts/layout.tsx'
import { LinkButton } from '../../parts/link-button.tsx'
import { ActionFault } from '../../parts/notice.tsx'
import { Private } from '../../parts/redaction.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { later, ReviewErrors, Step, type StepState } from './steps.tsx'

/** Lets numbers send in the campaign of the organization, or in the campaign that the operator shares. */
export function NumbersStep({ registration }: { registration: SmsRegistration }) {
  const { numbers, activeCampaignSource, sharedCampaign } = registration
  const assign = useAssignNumber()
  const unassign = useUnassignNumber()
  const canAssign = activeCampaignSource !== null
  const columns: readonly Column<SmsRegisteredNumber>[] = [
    ...numberColumns,
    {
      name: 'Actions',
      cell: ({ id, e164, smsEligible, assignedTo }) => {
        if (assignedTo !== null)
          return (
            <Button isSmall aria-label={`Take out ${e164}`} onClick={() => unassign.mutate(id)}>
              Take out
            </Button>
          )
        if (!smsEligible || !canAssign) return null
        return (
          <Button isSmall aria-label={`Assign ${e164}`} disabled={assign.isPending} onClick={() => assign.mutate(id)}>
            Assign
          </Button>
        )
      },
    },
  ]
  return (
    <Step title="Assign numbers" state={stateOf(registration)}>
      {activeCampaignSource === 'shared' && (
        <p>{`Numbers send in the campaign “${sharedCampaign.label ?? ''}” that the operator shares.`}</p>
      )}
      <ActionFault error={assign.error ?? unassign.error} />
      {numbers.length === 0 ? (
        <div>
          <p>A number of the USA that was bought here can send text messages.</p>
          <LinkButton to="/numbers/buy">Buy a number</LinkButton>
        </div>
      ) : (
        <Table label="Numbers" columns={columns} rows={numbers} keyOf={({ id }) => id} />
      )}
    </Step>
  )
}

function stateOf({ smsReady, activeCampaignSource, numbers }: SmsRegistration): StepState {
  if (smsReady) return { text: 'ready', tone: 'good' }
  if (numbers.some(({ assignedTo }) => assignedTo !== null)) return { text: 'in review', tone: 'warn' }
  return activeCampaignSource === null ? later : { text: 'to do', tone: 'accent' }
}

const tones: Record<NonNullable<SmsRegisteredNumber['smsAssignmentStatus']>, Tone> = {
  PENDING_ASSIGNMENT: 'warn',
  ASSIGNED: 'good',
  FAILED_ASSIGNMENT: 'alarm',
  PENDING_UNASSIGNMENT: 'warn',
  FAILED_UNASSIGNMENT: 'alarm',
}

const numberColumns: readonly Column<SmsRegisteredNumber>[] = [
  {
    name: 'Number',
    cell: ({ e164, label }) => (
      <>
        <strong>
          <Private>{e164}</Private>
        </strong>{' '}
        {label !== null && <Faint>{label}</Faint>}
      </>
    ),
  },
  {
    name: 'State',
    cell: ({ smsAssignmentStatus: status, smsEligible, reviewErrors }) => (
      <>
        {status !== null && <Badge tone={tones[status]}>{words(status).toLowerCase()}</Badge>}
        {status === null && <Faint>{smsEligible ? 'not assigned' : 'cannot send text messages'}</Faint>}
        <ReviewErrors errors={reviewErrors} />
      </>
    ),
  },
  { name: 'Campaign', cell: ({ assignedTo }) => (assignedTo === null ? '' : assignedTo) },
]
