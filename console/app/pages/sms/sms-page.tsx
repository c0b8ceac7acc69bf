import { useQuery } from '@tanstack/react-query'
import type { SmsRegistration } from '../../../../generated/clients/typescript/models/platform.ts'
import { useSession } from '../../data/session.ts'
import { isSubmitted, smsQuery, useReadStates } from '../../data/sms.ts'
import { Button } from '../../parts/button.tsx'
import { Line, Stack } from '../../parts/layout.tsx'
import { ActionFault, Notice } from '../../parts/notice.tsx'
import { Page } from '../../parts/page.tsx'
import { Answer } from '../../parts/states.tsx'
import { BrandStep, SubmitBrandStep } from './brand-steps.tsx'
import { CampaignStep, SubmitCampaignStep } from './campaign-steps.tsx'
import { NumbersStep } from './numbers-step.tsx'
import { Steps } from './steps.tsx'

/** The registration for text messages in the USA, as five steps, each with its state. */
export function SmsPage() {
  const registration = useQuery(smsQuery)
  return (
    <Page
      title="Text messages in the USA"
      lead="Carriers deliver text messages only for businesses that are registered (10DLC)."
      command={{ path: '/v1/sms/10dlc', cli: 'sms show' }}
    >
      <Answer of={registration} rows={10}>
        {(data) => (
          <Stack>
            <Ready registration={data} />
            <Steps>
              <BrandStep brand={data.ownBrand} />
              <SubmitBrandStep brand={data.ownBrand} />
              <CampaignStep campaign={data.ownCampaign} isOpen={data.ownBrand?.status === 'verified'} />
              <SubmitCampaignStep campaign={data.ownCampaign} isOpen={data.ownBrand?.status === 'verified'} />
              <NumbersStep registration={data} />
            </Steps>
          </Stack>
        )}
      </Answer>
    </Page>
  )
}

/** The registry is asked only if a person asks, because each request is an entry in the audit log. */
function Ready({ registration }: { registration: SmsRegistration }) {
  const { smsReady, ownBrand, ownCampaign } = registration
  const { server } = useSession()
  const read = useReadStates()
  const canRead = isSubmitted(ownBrand)
  const isInReview = ownBrand?.status === 'pending' || ownCampaign?.status === 'pending'
  return (
    <>
      {smsReady && <Notice tone="good" title="Text messages can be sent." />}
      {canRead && isInReview && (
        <Notice
          tone="calm"
          title={`The registry takes ${server.simulatedCarrier ? 'seconds' : 'up to days'} for a review. This page asks when you press the button.`}
        />
      )}
      {canRead && (
        <Line>
          <Button disabled={read.isPending} onClick={() => read.mutate()}>
            {read.isPending ? 'Asking the registry…' : 'Read all states again'}
          </Button>
        </Line>
      )}
      {canRead && <ActionFault error={read.error} />}
    </>
  )
}
