import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import type { PhoneNumber } from '../../../../generated/clients/typescript/models/platform.ts'
import { numbersQuery } from '../../data/numbers.ts'
import { AgentName } from '../../parts/agent-name.tsx'
import { Badge } from '../../parts/badge.tsx'
import { money, words } from '../../parts/formats.ts'
import { Faint, Line, Stack } from '../../parts/layout.tsx'
import { LinkButton } from '../../parts/link-button.tsx'
import { Page } from '../../parts/page.tsx'
import { Private } from '../../parts/redaction.tsx'
import { RoleButton, RoleLink, RoleNote } from '../../parts/role.tsx'
import { Answer, Empty } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { VerificationLink, VerificationNotice } from '../../parts/verification.tsx'
import { ChangeDialog, ReleaseDialog } from './number-dialogs.tsx'

type Open = { kind: 'change' | 'release'; number: PhoneNumber }

/** Lists the organization's numbers: who answers, and whether calls can come in and go out. */
export function NumbersPage() {
  const numbers = useQuery(numbersQuery)
  const [open, setOpen] = useState<Open | null>(null)
  const close = () => setOpen(null)
  return (
    <Page
      title="Phone numbers"
      lead="Numbers that calls come to, and that your agents call from."
      actions={
        <>
          <VerificationLink />
          <LinkButton to="/numbers/sip">SIP connections</LinkButton>
          <RoleLink needs="purchasePhoneNumber" to="/numbers/buy" look="main">
            <Plus aria-hidden="true" />
            Buy a number
          </RoleLink>
        </>
      }
      command={{ path: '/v1/phone-numbers', cli: 'numbers list' }}
    >
      <Stack>
        <VerificationNotice />
        <RoleNote needs="purchasePhoneNumber" action="Buying, changing and releasing numbers" />
        <Answer of={numbers}>
          {(rows) =>
            rows.length === 0 ? (
              <Empty title="No phone number yet">
                <p>Buy a number here, or connect your trunk under “SIP connections” and import its numbers.</p>
              </Empty>
            ) : (
              <Table
                label="Phone numbers"
                columns={[...columns, actions(setOpen)]}
                rows={rows}
                keyOf={({ id }) => id}
              />
            )
          }
        </Answer>
      </Stack>
      {open?.kind === 'change' && <ChangeDialog number={open.number} onClose={close} />}
      {open?.kind === 'release' && <ReleaseDialog number={open.number} onClose={close} />}
    </Page>
  )
}

function Setup({ setupStatus: { status, issues } }: PhoneNumber) {
  const tones = { ready: 'good', action_required: 'warn', suspended: 'alarm' } as const
  return (
    <Line>
      <Badge tone={tones[status]}>{words(status)}</Badge>
      {issues.length > 0 && <Faint>{issues.map(words).join(', ')}</Faint>}
    </Line>
  )
}

const columns: readonly Column<PhoneNumber>[] = [
  {
    name: 'Number',
    cell: ({ e164 }) => (
      <strong>
        <Private>{e164}</Private>
      </strong>
    ),
  },
  { name: 'Name', cell: ({ label }) => label ?? '' },
  { name: 'Agent', cell: ({ agentId }) => <AgentName id={agentId} /> },
  { name: 'Calls', cell: ({ direction }) => words(direction) },
  { name: 'State', cell: Setup },
  { name: 'Source', cell: ({ source }) => (source === 'managed' ? 'carrier' : 'SIP connection'), isExtra: true },
  {
    name: 'Month',
    cell: ({ monthlyMicroUsd }) => (monthlyMicroUsd === '0' ? 'free' : money(monthlyMicroUsd)),
    isNumber: true,
  },
]

const actions = (open: (what: Open) => void): Column<PhoneNumber> => ({
  name: 'Actions',
  cell: (number) => (
    <Line>
      <RoleButton
        needs="updatePhoneNumber"
        isSmall
        aria-label={`Change ${number.e164}`}
        onClick={() => open({ kind: 'change', number })}
      >
        Change
      </RoleButton>
      <RoleButton
        needs="deletePhoneNumber"
        isSmall
        look="alarm"
        aria-label={`Release ${number.e164}`}
        onClick={() => open({ kind: 'release', number })}
      >
        Release
      </RoleButton>
    </Line>
  ),
})
