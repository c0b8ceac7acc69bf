import type { MouseEvent } from 'react'
import type {
  BusinessVerification,
  NewBusinessVerification,
} from '../../../../generated/clients/typescript/models/platform.ts'
import { useSaveVerification, useSubmitVerification } from '../../data/verification.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Form } from '../../parts/form.tsx'
import { FormValues } from '../../parts/form-values.ts'
import { Notice } from '../../parts/notice.tsx'
import { Attestation, BusinessFields, draftOf, RepresentativeFields } from './fields.tsx'

/**
 * A draft may be incomplete. The browser asks for the missing fields when the business is submitted. Reading the
 * verification needs the same role as submitting the business, so the form has no read-only state for a lower role.
 */
export function VerificationForm({ verification }: { verification: BusinessVerification }) {
  const { status, submission, prefill } = verification
  const saved = useSaveVerification()
  const submitted = useSubmitVerification()
  const isPending = saved.isPending || submitted.isPending
  const save = ({ currentTarget: { form } }: MouseEvent<HTMLButtonElement>) => {
    submitted.reset()
    if (form) saved.mutate(draftOf(new FormValues(form)))
  }
  return (
    <Card title="The business and its representative">
      <Form
        error={submitted.error ?? saved.error}
        submit={(values) => {
          saved.reset()
          // The browser has checked the required fields.
          submitted.mutate(draftOf(values) as NewBusinessVerification)
        }}
        actions={
          <>
            <Button type="submit" look="main" disabled={isPending}>
              Submit the business
            </Button>
            <Button disabled={isPending} onClick={save}>
              Save as a draft
            </Button>
          </>
        }
      >
        {submission === null && prefill !== null && (
          <Notice tone="calm" title="Filled in from the brand for text messages." />
        )}
        <BusinessFields start={submission?.businessProfile ?? prefill ?? undefined} />
        <RepresentativeFields start={submission?.authorizedRepresentative ?? undefined} />
        <Attestation isAccepted={status === 'draft' && submission?.attestationAccepted === true} />
        {saved.isSuccess && <Notice tone="good" title="Saved as a draft. Nobody reviews it until it is submitted." />}
      </Form>
    </Card>
  )
}
