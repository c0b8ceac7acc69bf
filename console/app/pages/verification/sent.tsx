import type { BusinessVerificationSubmission } from '../../../../generated/clients/typescript/models/platform.ts'
import { Card } from '../../parts/card.tsx'
import { entityTypes } from '../../parts/entity-types.ts'
import { Facts } from '../../parts/facts.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Private } from '../../parts/redaction.tsx'

/** Shows what was submitted. It cannot be changed while it is reviewed, and after the approval. */
export function Sent({ submission }: { submission: BusinessVerificationSubmission | null }) {
  if (submission === null) return null
  const { submittedAt, reviewedAt } = submission
  const { address, entityType, ...profile } = submission.businessProfile ?? {}
  const person = submission.authorizedRepresentative ?? {}
  const place = [address?.street, address?.city, address?.state, address?.postalCode, address?.country]
  return (
    <Card title="What was submitted">
      <Facts
        rows={[
          ['Submitted', submittedAt === null ? null : <Moment key="submitted" at={submittedAt} />],
          ['Reviewed', reviewedAt === null ? null : <Moment key="reviewed" at={reviewedAt} />],
          ['Legal name', profile.legalName ?? null],
          ['Name that people know', profile.displayName ?? null],
          ['Legal form', entityTypes.find(({ value }) => value === entityType)?.label ?? null],
          ['Country', profile.country ?? null],
          ['Number in the register', profile.registrationId ?? null],
          ['Website', profile.website ?? null],
          ['Registered address', address ? place.filter(Boolean).join(', ') : null],
          ['What the numbers are for', profile.useCase ?? null],
          ['How much they will be used', profile.expectedUsage ?? null],
          ['Who speaks for the business', shown([person.name, person.title].filter(Boolean).join(', '))],
          ['E-mail', shown(person.email)],
          ['Phone', shown(person.phone)],
        ]}
      />
    </Card>
  )
}

const shown = (text: string | undefined) => (text ? <Private>{text}</Private> : null)
