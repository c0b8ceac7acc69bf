/** The verification of the business of an organization. Live and test keys share it, and test keys only read it. */
import type { Caller } from '../../domain/access/organization.ts'
import type {
  BusinessVerifications,
  Submission,
  VerificationForms,
} from '../../domain/numbers/business-verification.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type {
  BusinessVerificationDraft,
  BusinessVerification as WireVerification,
} from '../../generated/platform/types.ts'
import { Refusal } from '../../runtime/engine/handler.ts'
import { timeOf, timeOrNull } from './times.ts'

type Handlers = PlatformHandlers<Caller>

export function businessVerificationOperations(verifications: BusinessVerifications) {
  return {
    getBusinessVerification: async (_request, { caller }) => ({
      status: 200,
      body: wireVerification(await verifications.find(caller.organization.id)),
    }),
    saveBusinessVerificationDraft: async ({ body }, { caller }) => {
      refuseTestKey(caller)
      const saved = await verifications.saveDraft(caller.organization.id, formsOf(body))
      return { status: 200, body: wireVerification(saved) }
    },
    submitBusinessVerification: async ({ body }, { caller }) => {
      refuseTestKey(caller)
      const submitted = await verifications.submit(caller.organization.id, formsOf(body), caller.keyId)
      return { status: 200, body: wireVerification(submitted) }
    },
  } satisfies Partial<Handlers>
}

function formsOf({ businessProfile, authorizedRepresentative, ...body }: BusinessVerificationDraft): VerificationForms {
  return {
    businessProfile: businessProfile ?? null,
    authorizedRepresentative: authorizedRepresentative ?? null,
    attestationAccepted: body.attestationAccepted ?? false,
  }
}

/** No other registration has saved anything yet, so nothing is filled in. */
function wireVerification(submission: Submission | null): WireVerification {
  if (submission === null) return { status: 'missing', submission: null, prefill: null }
  const { id, organizationId, status, businessProfile, authorizedRepresentative, attestationAccepted } = submission
  const { submittedByApiKeyId, rejectionReason } = submission
  return {
    status,
    submission: {
      id,
      organizationId,
      status,
      businessProfile,
      authorizedRepresentative,
      attestationAccepted,
      attestedAt: timeOrNull(submission.attestedAtMs),
      submittedByApiKeyId,
      submittedAt: timeOrNull(submission.submittedAtMs),
      reviewedAt: timeOrNull(submission.reviewedAtMs),
      rejectionReason,
      createdAt: timeOf(submission.createdAtMs),
      updatedAt: timeOf(submission.updatedAtMs),
    },
    prefill: null,
  }
}

function refuseTestKey({ test }: Caller): void {
  if (!test) return
  throw new Refusal('forbidden', {
    message: 'This is a test key: it only reads the verification of the business, and needs none.',
    hint: 'Use a live key.',
  })
}
