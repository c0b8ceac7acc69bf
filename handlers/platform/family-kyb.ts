/** The verification of a business as the published SDKs of the hosted product read it (`clients: family`). */
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

/** Those SDKs read a submission where the contract has the whole verification: the answer is both. */
export function familySubmission(verification: BusinessVerification) {
  const { submission } = verification
  return { ...familyKyb(verification), ...(submission && submissionRow(submission)) }
}

/** No chat service gets a submission, which `not_queued` says. */
function submissionRow({ businessProfile, authorizedRepresentative, ...submission }: Submission) {
  return {
    ...submission,
    businessProfile: businessProfile && wholeProfile(businessProfile),
    authorizedRepresentative: authorizedRepresentative && wholeRepresentative(authorizedRepresentative),
    slackNotificationStatus: 'not_queued',
  }
}

/** A draft may lack fields, which are text there. */
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
