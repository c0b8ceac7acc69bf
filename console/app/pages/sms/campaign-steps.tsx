import type { SmsCampaign, SmsCampaignStatus } from '../../../../generated/clients/typescript/models/platform.ts'
import { useSaveCampaign, useSubmitCampaign } from '../../data/sms.ts'
import { Button } from '../../parts/button.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Form } from '../../parts/form.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Notice } from '../../parts/notice.tsx'
import { CampaignFields, campaignOf } from './campaign-fields.tsx'
import { Fold, later, ReviewErrors, Step, type StepState, SubmitButton } from './steps.tsx'

/** `isOpen` is true once the brand is verified. The description can be saved before. */
export function CampaignStep({ campaign, isOpen }: { campaign: SmsCampaign | null; isOpen: boolean }) {
  const save = useSaveCampaign()
  const todo: StepState = isOpen ? { text: 'to do', tone: 'accent' } : later
  return (
    <Step title="Describe the messages" state={campaign === null ? todo : { text: 'saved', tone: 'good' }}>
      <Fold label={campaign === null ? 'The messages' : 'Change the description'} isOpen={isOpen && campaign === null}>
        <Form
          error={save.error}
          submit={(values) => save.mutate(campaignOf(values, campaign?.profile))}
          actions={
            <Button type="submit" look={campaign === null ? 'main' : 'plain'} disabled={save.isPending}>
              Save the messages
            </Button>
          }
        >
          <CampaignFields profile={campaign?.profile} />
          {save.isSuccess && <Notice tone="good" title="Saved. The registry sees it when it is submitted." />}
        </Form>
      </Fold>
    </Step>
  )
}

const states: Record<SmsCampaignStatus, StepState> = {
  draft: { text: 'to do', tone: 'accent' },
  pending: { text: 'in review', tone: 'warn' },
  active: { text: 'approved', tone: 'good' },
  rejected: { text: 'refused', tone: 'alarm' },
  expired: { text: 'expired', tone: 'alarm' },
}

export function SubmitCampaignStep({ campaign, isOpen }: { campaign: SmsCampaign | null; isOpen: boolean }) {
  if (campaign === null || !isOpen) return <Step title="Register the campaign" state={later} />
  const { status, campaignId, submittedAt, reviewErrors } = campaign
  return (
    <Step title="Register the campaign" state={states[status]}>
      {submittedAt !== null && (
        <Facts
          rows={[
            ['Id', campaignId],
            ['Submitted', <Moment key="submitted" at={submittedAt} />],
          ]}
        />
      )}
      <ReviewErrors errors={reviewErrors} />
      {status === 'pending' && <p>The review takes some days.</p>}
      {status !== 'pending' && status !== 'active' && <SubmitCampaign />}
    </Step>
  )
}

function SubmitCampaign() {
  const submit = useSubmitCampaign()
  return (
    <SubmitButton
      title="Register the campaign"
      action="Submit the messages"
      of={submit}
      submit={(key, done) => submit.mutate(key, { onSuccess: done })}
    >
      Each submission makes a new campaign, with fees every month.
    </SubmitButton>
  )
}
