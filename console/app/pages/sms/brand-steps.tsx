import type { ComponentProps } from 'react'
import type {
  SmsBrand,
  SmsBrandStatus,
  SmsVettingClass,
} from '../../../../generated/clients/typescript/models/platform.ts'
import { useOrderVetting, useSaveBrand, useSubmitBrand } from '../../data/sms.ts'
import { Button } from '../../parts/button.tsx'
import { Facts } from '../../parts/facts.tsx'
import { SelectField } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { words } from '../../parts/formats.ts'
import { Moment } from '../../parts/moment.tsx'
import { Notice } from '../../parts/notice.tsx'
import { BrandFields, brandOf } from './brand-fields.tsx'
import { Fold, later, ReviewErrors, Step, type StepState, SubmitButton } from './steps.tsx'

export function BrandStep({ brand }: { brand: SmsBrand | null }) {
  const save = useSaveBrand()
  return (
    <Step
      title="Describe the business"
      state={brand === null ? { text: 'to do', tone: 'accent' } : { text: 'saved', tone: 'good' }}
    >
      <Fold label={brand === null ? 'The business' : 'Change the description'} isOpen={brand === null}>
        <Form
          error={save.error}
          submit={(values) => save.mutate(brandOf(values))}
          actions={
            <Button type="submit" look={brand === null ? 'main' : 'plain'} disabled={save.isPending}>
              Save the business
            </Button>
          }
        >
          <BrandFields profile={brand?.profile} />
          {save.isSuccess && <Notice tone="good" title="Saved. The registry sees it when it is submitted." />}
        </Form>
      </Fold>
    </Step>
  )
}

const states: Record<SmsBrandStatus, StepState> = {
  draft: { text: 'to do', tone: 'accent' },
  pending: { text: 'in review', tone: 'warn' },
  verified: { text: 'verified', tone: 'good' },
  failed: { text: 'refused', tone: 'alarm' },
}

export function SubmitBrandStep({ brand }: { brand: SmsBrand | null }) {
  if (brand === null) return <Step title="Register the brand" state={later} />
  const { status, identityStatus, submittedAt, reviewErrors, hasUnsubmittedChanges } = brand
  const isNew = status === 'draft' || status === 'failed'
  return (
    <Step title="Register the brand" state={states[status]}>
      {submittedAt !== null && (
        <Facts
          rows={[
            ['Identity', identityStatus === null ? 'no answer yet' : words(identityStatus).toLowerCase()],
            ['Submitted', <Moment key="submitted" at={submittedAt} />],
          ]}
        />
      )}
      <ReviewErrors errors={reviewErrors} />
      {isNew && (
        <SubmitBrand title="Register the brand" action="Submit the business">
          The registry of the carriers gets the description. Each registration is paid.
        </SubmitBrand>
      )}
      {!isNew && hasUnsubmittedChanges && (
        <SubmitBrand title="Submit the changes" action="Submit the changes">
          The registry of the carriers has an older description, and gets the saved description.
        </SubmitBrand>
      )}
      {status === 'verified' && <Vetting />}
    </Step>
  )
}

type SubmitBrandProps = Pick<ComponentProps<typeof SubmitButton>, 'title' | 'action' | 'children'>

/** The states are read again with the submission, because the registry has no other request for them. */
function SubmitBrand(props: SubmitBrandProps) {
  const submit = useSubmitBrand()
  const send = (_key: string, done: () => void) => submit.mutate(undefined, { onSuccess: done })
  return <SubmitButton {...props} of={submit} submit={send} />
}

const classes: readonly { value: SmsVettingClass; label: string }[] = [
  { value: 'STANDARD', label: 'Standard' },
  { value: 'ENHANCED', label: 'Enhanced' },
  { value: 'POLITICAL', label: 'Political' },
]

/** A vetting is optional: carriers let a business send more after it. */
function Vetting() {
  const order = useOrderVetting()
  return (
    <Fold label="Order a vetting, to send more" isOpen={false}>
      <Form
        error={order.error}
        submit={(values) => order.mutate(values.text('vettingClass') as SmsVettingClass)}
        actions={
          <Button type="submit" disabled={order.isPending}>
            Order the vetting, which is paid
          </Button>
        }
      >
        <SelectField label="Class" name="vettingClass" choices={classes} />
        {order.data && <Notice tone="good" title={`The vetting is ${order.data.status}.`} />}
      </Form>
    </Fold>
  )
}
