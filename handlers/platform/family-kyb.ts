/**
 * Writes the business verification for the published SDKs of the hosted product (`clients: family`, see
 * docs/moving.md).
 */
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

/**
 * Makes the response to a submission. The SDKs read only the submission, where the contract has the whole verification.
 * So the response contains both.
 */
export function familySubmission(verification: BusinessVerification) {
  const { submission } = verification
  return { ...familyKyb(verification), ...(submission && submissionRow(submission)) }
}

/** The persons behind a submission are not stored here. */
const unknownPersons = { submittedByUserId: null, submittedByEmail: null, reviewerUserId: null, reviewerEmail: null }

/** This server sends no notification about a submission to a chat service. */
const slack = { slackNotificationStatus: 'not_queued', slackNotificationJobId: null, slackNotificationError: null }

function submissionRow({ businessProfile, authorizedRepresentative, ...submission }: Submission) {
  return {
    ...unknownPersons,
    ...submission,
    ...slack,
    businessProfile: businessProfile && wholeProfile(businessProfile),
    authorizedRepresentative: authorizedRepresentative && wholeRepresentative(authorizedRepresentative),
  }
}

/** Fills a draft's missing fields with empty strings, because the SDKs require strings. */
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
