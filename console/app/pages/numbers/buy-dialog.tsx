import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { AvailablePhoneNumber } from '../../../../generated/clients/typescript/models/platform.ts'
import { useMay } from '../../data/may.ts'
import { needsVerification, useBuyNumber } from '../../data/numbers.ts'
import { creditsQuery } from '../../data/usage.ts'
import { AgentField } from '../../parts/agent-field.tsx'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Form } from '../../parts/form.tsx'
import { money, price } from '../../parts/formats.ts'
import { Notice } from '../../parts/notice.tsx'
import { SimulatedCarrier } from '../../parts/simulated-carrier.tsx'
import { VerificationLink } from '../../parts/verification.tsx'

/** Buys a number. Shows the price and the remaining credit before. */
export function BuyDialog({ number, onClose }: { number: AvailablePhoneNumber; onClose: () => void }) {
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

/** Shows the remaining credit. A role that may not read the credit sees nothing here. */
function CreditLeft() {
  const may = useMay('getCredits')
  const { data } = useInfiniteQuery({ ...creditsQuery, enabled: may })
  const [first] = data?.pages ?? []
  return first ? ` Credit left: ${money(first.creditMicroUsd)}.` : null
}
