import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { useState } from 'react'
import type { AvailablePhoneNumber } from '../../../../generated/clients/typescript/models/platform.ts'
import { availableQuery } from '../../data/numbers.ts'
import { pick, writeSearch } from '../../data/search.ts'
import { useSearchValues } from '../../parts/address.ts'
import { Button } from '../../parts/button.tsx'
import { shellWord } from '../../parts/command-strip.tsx'
import { TextField } from '../../parts/field.tsx'
import { FieldRow, Form } from '../../parts/form.tsx'
import { price } from '../../parts/formats.ts'
import { Stack } from '../../parts/layout.tsx'
import { Page } from '../../parts/page.tsx'
import { RoleButton, RoleNote } from '../../parts/role.tsx'
import { SimulatedCarrier } from '../../parts/simulated-carrier.tsx'
import { Answer, Empty } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { BuyDialog } from './buy-dialog.tsx'

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
