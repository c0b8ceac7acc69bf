import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import type { ApiKey } from '../../../../generated/clients/typescript/models/platform.ts'
import { keysQuery } from '../../data/keys.ts'
import { useSearchValues } from '../../parts/address.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Line, Tabs } from '../../parts/layout.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Page } from '../../parts/page.tsx'
import { Private } from '../../parts/redaction.tsx'
import { RoleButton } from '../../parts/role.tsx'
import { Answer, Empty } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { NewKeyDialog, RevokeDialog, RotateDialog } from './key-dialogs.tsx'

type Open = { kind: 'new' } | { kind: 'rotate' | 'revoke'; apiKey: ApiKey }

/** Lists the keys of programs. A revoked key stays in the list of revoked keys. */
export function KeysPage() {
  const isRevoked = useSearchValues()['revoked'] === 'true'
  const keys = useQuery(keysQuery(isRevoked))
  const [open, setOpen] = useState<Open | null>(null)
  const close = () => setOpen(null)
  return (
    <Page
      title="API keys"
      lead="Each program has its key, with the scopes that it needs."
      actions={
        <RoleButton needs="createKey" look="main" onClick={() => setOpen({ kind: 'new' })}>
          <Plus aria-hidden="true" />
          New key
        </RoleButton>
      }
      command={{ path: `/v1/keys${isRevoked ? '?revoked=true' : ''}`, cli: 'keys list' }}
    >
      <Tabs
        label="Kinds of keys"
        tabs={[
          { name: 'In use', to: '/keys', isCurrent: !isRevoked },
          { name: 'Revoked', to: '/keys', search: { revoked: 'true' }, isCurrent: isRevoked },
        ]}
      />
      <Answer of={keys}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={isRevoked ? 'No key was revoked' : 'No key yet'}>
              <p>{isRevoked ? 'A revoked key is listed here.' : 'A program needs a key for each request.'}</p>
            </Empty>
          ) : (
            <Table
              label="API keys"
              columns={isRevoked ? columns : [...columns, actions(setOpen)]}
              rows={rows}
              keyOf={({ id }) => id}
            />
          )
        }
      </Answer>
      {open?.kind === 'new' && <NewKeyDialog onClose={close} />}
      {open?.kind === 'rotate' && <RotateDialog apiKey={open.apiKey} onClose={close} />}
      {open?.kind === 'revoke' && <RevokeDialog apiKey={open.apiKey} onClose={close} />}
    </Page>
  )
}

const columns: readonly Column<ApiKey>[] = [
  {
    name: 'Name',
    cell: ({ name, test }) => (
      <Line>
        <strong>
          <Private>{name === '' ? 'without a name' : name}</Private>
        </strong>
        {test && <Badge tone="warn">test</Badge>}
      </Line>
    ),
  },
  { name: 'Begins with', cell: ({ publicId }) => <code>{publicId}</code> },
  { name: 'Scopes', cell: ({ scopes }) => scopes.join(', ') },
  { name: 'Made', cell: ({ createdAt }) => <Moment at={createdAt} />, isExtra: true },
  { name: 'Last used', cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : <Moment at={lastUsedAt} />) },
  { name: 'Ends', cell: ends, isExtra: true },
]

function ends({ expiresAt, previousExpiresAt, revokedAt }: ApiKey) {
  if (revokedAt !== null) return <Moment at={revokedAt} />
  if (previousExpiresAt !== null && Date.parse(previousExpiresAt) > Date.now())
    return (
      <>
        old secret works until <Moment at={previousExpiresAt} />
      </>
    )
  return expiresAt === null ? 'never' : <Moment at={expiresAt} />
}

const actions = (open: (what: Open) => void): Column<ApiKey> => ({
  name: 'Actions',
  cell: (apiKey) => (
    <Line>
      <Button isSmall aria-label={`Rotate ${apiKey.name}`} onClick={() => open({ kind: 'rotate', apiKey })}>
        Rotate
      </Button>
      <Button
        isSmall
        look="alarm"
        aria-label={`Revoke ${apiKey.name}`}
        onClick={() => open({ kind: 'revoke', apiKey })}
      >
        Revoke
      </Button>
    </Line>
  ),
})
