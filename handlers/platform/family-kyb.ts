/** The business verification in the form that the hosted product's published SDKs read (`clients: family`). */
import type { BusinessVerification } from '../../generated/platform/types.ts'

type Submission = NonNullable<BusinessVerification['submission']>
type Profile = NonNullable<BusinessVerification['prefill']>

export function familyKyb({ submission, prefill, ...verification }: BusinessVerification) {
  return {
    ...verification,
    submission: submission && submissionRow(submission),
    prefill: prefill && {
      ...prefill,
      businessProfile: wholeProfile(prefill),
      authorizedRepresentative: wholeRepresentative(null),
    },
  }
}

/** The SDKs read a submission in place of the contract's whole verification, so the answer contains both. */
export function familySubmission(verification: BusinessVerification) {
  const { submission } = verification
  return { ...familyKyb(verification), ...(submission && submissionRow(submission)) }
}

/** Submissions go to no chat service, as `not_queued` says. */
function submissionRow({ businessProfile, authorizedRepresentative, ...submission }: Submission) {
  return {
    ...submission,
    businessProfile: businessProfile && wholeProfile(businessProfile),
    authorizedRepresentative: authorizedRepresentative && wholeRepresentative(authorizedRepresentative),
    slackNotificationStatus: 'not_queued',
  }
}

/** A draft may lack fields, but the SDKs require text. */
function wholeProfile(profile: Profile) {
  const texts = {
    legalName: '',
    displayName: '',
    entityType: '',
    country: '',
    website: '',
    useCase: '',
    expectedUsage: '',
  }
  const address = { street: '', city: '', state: '', postalCode: '', country: '', ...profile.address }
  return { ...texts, ...profile, address }
}

function wholeRepresentative(representative: Submission['authorizedRepresentative']) {
  return { name: '', title: '', email: '', ...representative }
}
