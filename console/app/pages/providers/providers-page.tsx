import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ModelHealth, ProviderStatus } from '../../../../generated/clients/typescript/models/platform.ts'
import { providerHealthQuery, providersQuery, useCheckProvider } from '../../data/providers.ts'
import { useSearchValues } from '../../parts/address.ts'
import { Badge } from '../../parts/badge.tsx'
import { plural } from '../../parts/formats.ts'
import { Faint, Line, Tabs } from '../../parts/layout.tsx'
import { Page } from '../../parts/page.tsx'
import { RoleButton, RoleNote } from '../../parts/role.tsx'
import { Answer, Empty } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { CheckDialog } from './check-dialog.tsx'
import { Health } from './health.tsx'
import { DeleteKeyDialog, StoreKeyDialog } from './key-dialogs.tsx'

type Open = { kind: 'check' | 'store' | 'delete'; provider: string }

/** Shows this server's providers, the organization's keys for them, and their models' health. */
export function ProvidersPage() {
  const isHealth = useSearchValues()['tab'] === 'health'
  return (
    <Page
      title="Providers"
      lead="Who recognizes, answers and speaks, and with whose key."
      command={
        isHealth
          ? { path: '/v1/providers/health', cli: 'providers health' }
          : { path: '/v1/providers', cli: 'providers list' }
      }
    >
      <Tabs
        label="Views of the providers"
        tabs={[
          { name: 'Keys', to: '/providers', isCurrent: !isHealth },
          { name: 'Health of the models', to: '/providers', search: { tab: 'health' }, isCurrent: isHealth },
        ]}
      />
      {isHealth ? <Health /> : <Keys />}
    </Page>
  )
}

function Keys() {
  const providers = useQuery(providersQuery)
  const { data: health = [] } = useQuery(providerHealthQuery)
  const [open, setOpen] = useState<Open | null>(null)
  const check = useCheckProvider()
  const close = () => setOpen(null)
  const show = (what: Open) => {
    if (what.kind === 'check') check.mutate(what.provider)
    setOpen(what)
  }
  const modelsOf = ({ provider }: ProviderStatus) => health.filter((model) => model.provider === provider)
  const columns: readonly Column<ProviderStatus>[] = [
    { name: 'Provider', cell: ({ provider }) => <strong>{provider}</strong> },
    { name: 'For', cell: ({ stages }) => stages.join(', ') },
    { name: 'Key', cell: (row) => (needsNoKey(modelsOf(row)) ? <Faint>needs none</Faint> : <Key status={row} />) },
    { name: 'Now', cell: (row) => <Now models={modelsOf(row)} /> },
    {
      name: 'Actions',
      cell: (row) => !needsNoKey(modelsOf(row)) && <Actions status={row} open={show} />,
    },
  ]
  return (
    <>
      <Answer of={providers} rows={8}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="This server has no provider">
              <p>
                The operator adds providers in the settings of the server, or with the key of a vendor in its
                environment.
              </p>
            </Empty>
          ) : (
            <Table label="Providers" columns={columns} rows={rows} keyOf={({ provider }) => provider} />
          )
        }
      </Answer>
      <RoleNote needs="putProviderKey" action="Storing, checking and deleting keys" />
      {open?.kind === 'check' && <CheckDialog provider={open.provider} check={check} onClose={close} />}
      {open?.kind === 'store' && <StoreKeyDialog provider={open.provider} onClose={close} />}
      {open?.kind === 'delete' && <DeleteKeyDialog provider={open.provider} onClose={close} />}
    </>
  )
}

/** The server's embedded engines work without a key. */
const needsNoKey = (models: readonly ModelHealth[]) =>
  models.length > 0 && models.every(({ keySource, state }) => keySource === null && state !== 'no_credential')

function Key({ status: { configured, source } }: { status: ProviderStatus }) {
  if (source === 'BYOK') return <Badge tone="accent">your key</Badge>
  return configured ? 'of the operator' : <Faint>none</Faint>
}

/** How many models have trouble now. A provider without a key has no state. */
function Now({ models }: { models: readonly ModelHealth[] }) {
  const reachable = models.filter(({ state }) => state !== 'no_credential')
  if (reachable.length === 0) return null
  const open = reachable.filter(({ state }) => state === 'open').length
  const degraded = reachable.filter(({ state }) => state === 'degraded').length
  if (open > 0) return <Badge tone="alarm">{`${plural(open, 'model')} paused`}</Badge>
  if (degraded > 0) return <Badge tone="warn">{`${plural(degraded, 'model')} with failures`}</Badge>
  return reachable.some(({ state }) => state === 'ok') ? <Badge tone="good">ok</Badge> : <Faint>not used lately</Faint>
}

type ActionsProps = { status: ProviderStatus; open: (what: Open) => void }

function Actions({ status: { provider, configured, source }, open }: ActionsProps) {
  return (
    <Line>
      <RoleButton
        needs="checkProvider"
        isSmall
        aria-label={`Check the key of ${provider}`}
        disabled={!configured}
        onClick={() => open({ kind: 'check', provider })}
      >
        Check
      </RoleButton>
      <RoleButton
        needs="putProviderKey"
        isSmall
        aria-label={`${source === 'BYOK' ? 'Replace the' : 'Store a'} key of ${provider}`}
        onClick={() => open({ kind: 'store', provider })}
      >
        {source === 'BYOK' ? 'Replace' : 'Store a key'}
      </RoleButton>
      {source === 'BYOK' && (
        <RoleButton
          needs="deleteProviderKey"
          isSmall
          look="alarm"
          aria-label={`Delete the key of ${provider}`}
          onClick={() => open({ kind: 'delete', provider })}
        >
          Delete
        </RoleButton>
      )}
    </Line>
  )
}
