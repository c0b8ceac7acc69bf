import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { CreditMovement, Credits, KeySpending } from '../../../../generated/clients/typescript/models/platform.ts'
import { numbersQuery } from '../../data/numbers.ts'
import { organizationQuery } from '../../data/organization.ts'
import { creditsQuery } from '../../data/usage.ts'
import { Badge } from '../../parts/badge.tsx'
import { Card } from '../../parts/card.tsx'
import { Facts } from '../../parts/facts.tsx'
import { money, words } from '../../parts/formats.ts'
import { Faint, Stack } from '../../parts/layout.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Older } from '../../parts/older.tsx'
import { Private } from '../../parts/redaction.tsx'
import { Answer } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'

/** Shows the credit that is left, the keys with a budget, and all movements of the credit. */
export function Credit() {
  const credits = useInfiniteQuery(creditsQuery)
  return (
    <Answer of={credits}>
      {({ pages }) => {
        const [first] = pages
        if (!first) return null
        return (
          <Stack>
            <Left credits={first} />
            {first.budgets.length > 0 && (
              <Table label="Budgets" columns={budgetColumns} rows={first.budgets} keyOf={({ keyId }) => keyId} />
            )}
            <Movements rows={pages.flatMap(({ movements }) => movements)} />
            <Older of={credits} what="movements" />
          </Stack>
        )
      }}
    </Answer>
  )
}

function Left({ credits: { creditMicroUsd, reservedMicroUsd } }: { credits: Credits }) {
  return (
    <Card>
      <Facts
        rows={[
          ['Credit', <strong key="credit">{money(creditMicroUsd)}</strong>],
          ['Reserved for live requests', money(reservedMicroUsd)],
        ]}
      />
    </Card>
  )
}

function Movements({ rows }: { rows: readonly CreditMovement[] }) {
  const { data: organization } = useQuery(organizationQuery)
  if (rows.length === 0) return <Faint>Nothing has changed the credit yet.</Faint>
  const columns = movementColumns(organization?.createdAt)
  return <Table label="Movements" columns={columns} rows={rows} keyOf={({ id }) => id} />
}

/** The starting credit has the time at which the organization was created. */
const movementColumns = (organizationCreatedAt: string | undefined): readonly Column<CreditMovement>[] => [
  { name: 'Time', cell: ({ createdAt }) => <Moment at={createdAt} /> },
  {
    name: 'What',
    cell: ({ kind, createdAt }) =>
      kind === 'operator' && createdAt === organizationCreatedAt ? 'starting credit' : words(kind),
  },
  { name: 'For', cell: ({ day, phoneNumberId }) => day ?? (phoneNumberId && <BoughtNumber id={phoneNumberId} />) },
  { name: 'Amount', cell: ({ microUsd }) => money(microUsd), isNumber: true },
]

function BoughtNumber({ id }: { id: string }) {
  const { data = [] } = useQuery(numbersQuery)
  const number = data.find((each) => each.id === id)
  // A released number keeps its movements, but only its id is known.
  return number ? <Private>{number.e164}</Private> : <code>{id}</code>
}

const budgetColumns: readonly Column<KeySpending>[] = [
  { name: 'Key', cell: ({ name }) => <strong>{name}</strong> },
  { name: 'Period', cell: ({ period, current }) => (period === 'total' ? 'in total' : current) },
  {
    name: 'State',
    cell: ({ exhaustedAt, warnedAt }) => {
      if (exhaustedAt !== null) return <Badge tone="alarm">used up</Badge>
      return warnedAt === null ? <Badge tone="good">open</Badge> : <Badge tone="warn">over 80 %</Badge>
    },
  },
  { name: 'Spent', cell: ({ spentMicroUsd }) => money(spentMicroUsd), isNumber: true },
  { name: 'Budget', cell: ({ microUsd }) => money(microUsd), isNumber: true },
]
