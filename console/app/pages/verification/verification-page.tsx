import { useQuery } from '@tanstack/react-query'
import type { BusinessVerification } from '../../../../generated/clients/typescript/models/platform.ts'
import { useSession } from '../../data/session.ts'
import { verificationQuery } from '../../data/verification.ts'
import { Badge } from '../../parts/badge.tsx'
import { Stack } from '../../parts/layout.tsx'
import { LinkButton } from '../../parts/link-button.tsx'
import { Notice } from '../../parts/notice.tsx'
import { Page } from '../../parts/page.tsx'
import { Answer } from '../../parts/states.tsx'
import { verificationStates } from '../../parts/verification.tsx'
import { Sent } from './sent.tsx'
import { VerificationForm } from './verification-form.tsx'

/** A review by the simulated carrier takes two seconds, and a review by the operator takes hours. */
const pollMs = { simulated: 2_000, operator: 30_000 }

/** The verification of the business: what happens next, and the form for it. */
export function VerificationPage() {
  const { simulatedCarrier } = useSession().server
  const verification = useQuery({
    ...verificationQuery,
    refetchInterval: ({ state }) =>
      state.data?.status === 'submitted' && pollMs[simulatedCarrier ? 'simulated' : 'operator'],
  })
  return (
    <Page
      title="Business verification"
      lead="Carriers ask who is behind a number, so a business is verified before it buys numbers."
      command={{ path: '/v1/phone-numbers/kyb', cli: 'business show' }}
    >
      <Answer of={verification} rows={10}>
        {(data) => (
          <Stack>
            <State verification={data} />
            {data.status === 'submitted' || data.status === 'approved' ? (
              <Sent submission={data.submission} />
            ) : (
              <VerificationForm verification={data} />
            )}
          </Stack>
        )}
      </Answer>
    </Page>
  )
}

function State({ verification: { status, submission } }: { verification: BusinessVerification }) {
  const { tone, label, next } = verificationStates[status]
  const reason = submission?.rejectionReason ?? null
  return (
    <>
      <div>
        <Badge tone={tone}>{label}</Badge>
        <p>{next}</p>
      </div>
      {reason !== null && (
        <Notice tone="alarm" title="The last review refused the business">
          <p>{reason}</p>
        </Notice>
      )}
      {status === 'approved' && (
        <div>
          <LinkButton to="/numbers/buy" look="main">
            Buy a number
          </LinkButton>
        </div>
      )}
    </>
  )
}
