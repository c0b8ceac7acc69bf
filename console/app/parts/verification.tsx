/** Says in words how far the verification of the business is, and leads to its page. */
import { useQuery } from '@tanstack/react-query'
import type { BusinessVerificationStatus } from '../../../generated/clients/typescript/models/platform.ts'
import { useMay } from '../data/may.ts'
import { verificationQuery } from '../data/verification.ts'
import type { Tone } from './badge.tsx'
import { LinkButton } from './link-button.tsx'
import { Notice } from './notice.tsx'

type State = { label: string; tone: Tone; next: string }

export const verificationStates: Record<BusinessVerificationStatus, State> = {
  missing: {
    label: 'to do',
    tone: 'accent',
    next: 'Fill in the form and submit it. After an approval, the organization may buy numbers.',
  },
  draft: {
    label: 'draft',
    tone: 'accent',
    next: 'The draft is saved. Complete and submit it, and it is reviewed.',
  },
  submitted: {
    label: 'in review',
    tone: 'warn',
    next: 'The business is being reviewed. Nothing can be changed until the result is there.',
  },
  approved: { label: 'approved', tone: 'good', next: 'The organization may buy numbers.' },
  rejected: {
    label: 'refused',
    tone: 'alarm',
    next: 'Correct what the review names, and submit the business again.',
  },
  revoked: {
    label: 'taken back',
    tone: 'alarm',
    next: 'The approval was taken back. Your numbers stay. Submit the business again to buy more numbers.',
  },
}

/** Leads to the verification. Shows nothing if the business is approved, or if the person may not read the state. */
export function VerificationNotice() {
  const may = useMay('getBusinessVerification')
  const { data } = useQuery({ ...verificationQuery, enabled: may })
  if (!data || data.status === 'approved') return null
  return (
    <Notice tone="calm" title="Numbers can be bought once the business is verified">
      <p>{verificationStates[data.status].next}</p>
      <VerificationLink />
    </Notice>
  )
}

export const VerificationLink = () => <LinkButton to="/numbers/verification">Business verification</LinkButton>
