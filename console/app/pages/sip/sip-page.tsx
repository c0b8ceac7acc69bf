import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import type { SipConnection } from '../../../../generated/clients/typescript/models/platform.ts'
import { sipConnectionsQuery, useCheckTrunk } from '../../data/sip-connections.ts'
import { Badge, type Tone } from '../../parts/badge.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { plural } from '../../parts/formats.ts'
import { Faint, Line } from '../../parts/layout.tsx'
import { Page } from '../../parts/page.tsx'
import { Private } from '../../parts/redaction.tsx'
import { RoleButton, RoleNote } from '../../parts/role.tsx'
import { Answer, Empty } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { CheckDialog, ImportDialog, RemoveDialog } from './connection-dialogs.tsx'
import { ConnectionDialog } from './connection-form.tsx'

type Open = { kind: 'new' } | { kind: 'change' | 'check' | 'import' | 'remove'; connection: SipConnection }

/** The organization's SIP trunks: where calls go out, from where they come in, and whether the other side answers. */
export function SipPage() {
  const connections = useQuery(sipConnectionsQuery)
  const [open, setOpen] = useState<Open | null>(null)
  const check = useCheckTrunk()
  const close = () => setOpen(null)
  const show = (what: Open) => {
    if (what.kind === 'check') check.mutate(what.connection.id)
    setOpen(what)
  }
  return (
    <Page
      title="SIP connections"
      lead="Trunks and exchanges of yours, whose numbers your agents answer and call from."
      actions={
        <RoleButton needs="createSipConnection" look="main" onClick={() => setOpen({ kind: 'new' })}>
          <Plus aria-hidden="true" />
          Connect a trunk
        </RoleButton>
      }
      command={{ path: '/v1/phone-numbers/sip-connections', cli: 'sip-connections list' }}
    >
      <RoleNote needs="createSipConnection" action="Changing connections and importing numbers" />
      <Answer of={connections} rows={4}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="No trunk is connected">
              <p>Connect the trunk of your telephone company, and then import its numbers.</p>
            </Empty>
          ) : (
            <Table label="SIP connections" columns={[...columns, actions(show)]} rows={rows} keyOf={({ id }) => id} />
          )
        }
      </Answer>
      {open?.kind === 'new' && <ConnectionDialog onClose={close} />}
      {open?.kind === 'change' && <ConnectionDialog connection={open.connection} onClose={close} />}
      {open?.kind === 'check' && <CheckDialog connection={open.connection} check={check} onClose={close} />}
      {open?.kind === 'import' && <ImportDialog connection={open.connection} onClose={close} />}
      {open?.kind === 'remove' && <RemoveDialog connection={open.connection} onClose={close} />}
    </Page>
  )
}

const tones: Record<SipConnection['status'], Tone> = { unverified: 'warn', ready: 'good', failing: 'alarm' }
const labels: Record<SipConnection['status'], string> = {
  unverified: 'not answered yet',
  ready: 'answers',
  failing: 'does not answer',
}

const columns: readonly Column<SipConnection>[] = [
  {
    name: 'Name',
    cell: ({ name, provider }) => (
      <>
        <strong>{name}</strong> {provider !== null && <Faint>{provider}</Faint>}
      </>
    ),
  },
  { name: 'State', cell: ({ status }) => <Badge tone={tones[status]}>{labels[status]}</Badge> },
  {
    name: 'Calls go out to',
    cell: ({ outbound }) =>
      outbound === null ? (
        <Faint>nowhere</Faint>
      ) : (
        <Private>{`${outbound.host}:${outbound.port}, ${outbound.transport}`}</Private>
      ),
  },
  { name: 'Calls come in at', cell: Inbound },
  { name: 'Numbers', cell: ({ numbers }) => plural(numbers, 'number') },
]

/** Shows the SIP URI that must be entered in the trunk's settings. */
function Inbound({ inbound }: SipConnection) {
  if (inbound === null) return <Faint>nowhere</Faint>
  if (inbound.uri === null) return <Faint>this server takes no calls over SIP</Faint>
  return (
    <Line>
      <code>{inbound.uri}</code>
      <CopyButton text={inbound.uri} label="Copy the address for the trunk" />
    </Line>
  )
}

const actions = (open: (what: Open) => void): Column<SipConnection> => ({
  name: 'Actions',
  cell: (connection) => (
    <Line>
      <RoleButton
        needs="checkSipConnection"
        isSmall
        aria-label={`Check now: ${connection.name}`}
        disabled={connection.outbound === null}
        onClick={() => open({ kind: 'check', connection })}
      >
        Check now
      </RoleButton>
      <RoleButton
        needs="importPhoneNumber"
        isSmall
        aria-label={`Import a number of ${connection.name}`}
        onClick={() => open({ kind: 'import', connection })}
      >
        Import a number
      </RoleButton>
      <RoleButton
        needs="updateSipConnection"
        isSmall
        aria-label={`Change ${connection.name}`}
        onClick={() => open({ kind: 'change', connection })}
      >
        Change
      </RoleButton>
      <RoleButton
        needs="deleteSipConnection"
        isSmall
        look="alarm"
        aria-label={`Remove ${connection.name}`}
        onClick={() => open({ kind: 'remove', connection })}
      >
        Remove
      </RoleButton>
    </Line>
  ),
})
