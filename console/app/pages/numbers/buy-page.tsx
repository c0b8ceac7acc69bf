import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { useState } from 'react'
import type { AvailablePhoneNumber } from '../../../../generated/clients/typescript/models/platform.ts'
import { useMay } from '../../data/may.ts'
import { availableQuery, needsVerification, useBuyNumber } from '../../data/numbers.ts'
import { pick, writeSearch } from '../../data/search.ts'
import { creditsQuery } from '../../data/usage.ts'
import { useSearchValues } from '../../parts/address.ts'
import { AgentField } from '../../parts/agent-field.tsx'
import { Button } from '../../parts/button.tsx'
import { shellWord } from '../../parts/command-strip.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/field.tsx'
import { FieldRow, Form } from '../../parts/form.tsx'
import { money } from '../../parts/formats.ts'
import { Stack } from '../../parts/layout.tsx'
import { Notice } from '../../parts/notice.tsx'
import { Page } from '../../parts/page.tsx'
import { RoleButton, RoleNote } from '../../parts/role.tsx'
import { SimulatedCarrier } from '../../parts/simulated-carrier.tsx'
import { Answer, Empty } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { VerificationLink } from '../../parts/verification.tsx'

/** Searches numbers by area code or town. The search is in the page's URL. */
export function BuyPage() {
  const search = pick(useSearchValues(), ['areaCode', 'locality'])
  const found = useQuery(availableQuery(search))
  const navigate = useNavigate()
  const [chosen, setChosen] = useState<AvailablePhoneNumber | null>(null)
  return (
    <Page
      title="Buy a number"
      lead="The first month and the set-up price are taken from the credit at once."
      command={{
        path: `/v1/phone-numbers/available${writeSearch(search)}`,
        cli: `numbers search${search.areaCode ? ` --area ${shellWord(search.areaCode)}` : ''}`,
      }}
    >
      <Stack>
        <SimulatedCarrier />
        <RoleNote needs="purchasePhoneNumber" action="Buying a number" />
        <Form
          submit={(values) =>
            void navigate({
              to: '/numbers/buy',
              search: { areaCode: values.optional('areaCode'), locality: values.optional('locality') },
            })
          }
          actions={
            <Button type="submit">
              <Search aria-hidden="true" />
              Search
            </Button>
          }
        >
          <FieldRow>
            <TextField
              label="Area code"
              name="areaCode"
              pattern="[0-9]{3}"
              title="Three digits"
              inputMode="numeric"
              defaultValue={search.areaCode}
              placeholder="212"
            />
            <TextField label="Town" name="locality" defaultValue={search.locality} placeholder="New York" />
          </FieldRow>
        </Form>
        <Answer of={found}>
          {(rows) =>
            rows.length === 0 ? (
              <Empty title="No number was found">
                <p>Try another area code, or leave both fields empty.</p>
              </Empty>
            ) : (
              <Table label="Numbers to buy" columns={[...columns, buy(setChosen)]} rows={rows} keyOf={keyOf} />
            )
          }
        </Answer>
      </Stack>
      {chosen && <BuyDialog number={chosen} onClose={() => setChosen(null)} />}
    </Page>
  )
}

const keyOf = ({ e164 }: AvailablePhoneNumber) => e164
const price = (usd: number | null) => (usd === null ? 'not named' : `$${usd.toFixed(2)}`)

const columns: readonly Column<AvailablePhoneNumber>[] = [
  { name: 'Number', cell: ({ friendlyName }) => <strong>{friendlyName}</strong> },
  {
    name: 'Place',
    cell: ({ region: { locality, state } }) => [locality, state].filter((part) => part !== null).join(', '),
  },
  { name: 'Features', cell: ({ features }) => features.join(', '), isExtra: true },
  { name: 'Set-up', cell: ({ upfrontCostUsd }) => price(upfrontCostUsd), isNumber: true },
  { name: 'Month', cell: ({ monthlyCostUsd }) => price(monthlyCostUsd), isNumber: true },
]

const buy = (choose: (number: AvailablePhoneNumber) => void): Column<AvailablePhoneNumber> => ({
  name: 'Actions',
  cell: (number) => (
    <RoleButton needs="purchasePhoneNumber" isSmall aria-label={`Buy ${number.e164}`} onClick={() => choose(number)}>
      Buy
    </RoleButton>
  ),
})

function BuyDialog({ number, onClose }: { number: AvailablePhoneNumber; onClose: () => void }) {
  const { e164, friendlyName, monthlyCostUsd, upfrontCostUsd } = number
  const bought = useBuyNumber()
  const navigate = useNavigate()
  const [key] = useState(() => crypto.randomUUID())
  const isUnverified = needsVerification(bought.error)
  return (
    <Dialog title={`Buy ${friendlyName}`} onClose={onClose}>
      <Form
        error={isUnverified ? null : bought.error}
        submit={(values) =>
          bought.mutate(
            { key, body: { e164, agentId: values.optional('agentId') ?? null } },
            { onSuccess: () => void navigate({ to: '/numbers' }) },
          )
        }
        actions={
          <Button type="submit" look="main" disabled={bought.isPending}>
            {bought.isPending ? 'Buying…' : 'Buy the number'}
          </Button>
        }
      >
        <p>
          Set-up {price(upfrontCostUsd)}, and {price(monthlyCostUsd)} each month. The first month is paid now.
          <CreditLeft />
        </p>
        <SimulatedCarrier />
        <AgentField label="Agent that answers" name="agentId" none="No agent yet" />
        {isUnverified && (
          <Notice tone="warn" title="Your business must be verified first">
            <p>Carriers ask who is behind a number.</p>
            <VerificationLink />
          </Notice>
        )}
      </Form>
    </Dialog>
  )
}

/** Shows the credit that is left. A role that may not read the credit sees nothing here. */
function CreditLeft() {
  const may = useMay('getCredits')
  const { data } = useInfiniteQuery({ ...creditsQuery, enabled: may })
  const [first] = data?.pages ?? []
  return first ? ` Credit left: ${money(first.creditMicroUsd)}.` : null
}
