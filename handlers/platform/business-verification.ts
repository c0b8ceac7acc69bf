/** An organization's business verification. Live and test keys share it, but test keys may only read it. */
import type {
  BusinessVerifications,
  Submission,
  SubmittedForms,
  VerificationForms,
} from '../../domain/numbers/business-verification.ts'
import type { BrandProfile } from '../../domain/ports/sms-registry.ts'
import type { Caller } from '../../domain/records/organization.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type {
  BusinessVerificationDraft,
  NewBusinessVerification,
  BusinessVerification as WireVerification,
} from '../../generated/platform/types.ts'
import { Refusal } from '../../runtime/engine/handler.ts'
import { timeOf, timeOrNull } from './times.ts'

type Handlers = PlatformHandlers<Caller>

/** Reads the brand in the live keys' 10DLC registration. Null if no brand was saved. */
export type SavedBrand = (organizationId: string) => Promise<BrandProfile | null>

export function businessVerificationOperations(verifications: BusinessVerifications, savedBrand: SavedBrand) {
  const wire = async (submission: Submission | null, { organization }: Caller) =>
    wireVerification(submission, prefillOf(await savedBrand(organization.id)))
  return {
    getBusinessVerification: async (_request, { caller }) => ({
      status: 200,
      body: await wire(await verifications.find(caller.organization.id), caller),
    }),
    saveBusinessVerificationDraft: async ({ body }, { caller }) => {
      refuseTestKey(caller)
      const saved = await verifications.saveDraft(caller.organization.id, formsOf(body))
      return { status: 200, body: await wire(saved, caller) }
    },
    submitBusinessVerification: async ({ body }, { caller }) => {
      refuseTestKey(caller)
      const submitted = await verifications.submit(caller.organization.id, submittedForms(body), caller.keyId)
      return { status: 200, body: await wire(submitted, caller) }
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

/**
 * Reads the submitted forms. The short form describes only the business, so a draft keeps its stored representative.
 * Throws a Refusal if the short and the whole form are both sent.
 */
function submittedForms({ declaration, ...body }: NewBusinessVerification): SubmittedForms {
  if (declaration === undefined) return formsOf(body)
  if (body.businessProfile !== undefined || body.authorizedRepresentative !== undefined) throw refuseDeclaration()
  const { businessName, useCase } = declaration
  return {
    businessProfile: { legalName: businessName, displayName: businessName, useCase },
    attestationAccepted: body.attestationAccepted,
  }
}

function refuseDeclaration(): Refusal {
  const issue = { path: '/declaration', message: '/declaration cannot stand beside the forms', keyword: 'not' }
  return new Refusal('invalid_parameter', { param: issue.path, ...issue, issues: [issue] })
}

/** Returns the business profile's fields that the saved brand already contains. */
function prefillOf(brand: BrandProfile | null): WireVerification['prefill'] {
  if (brand === null) return null
  const { legalName, displayName, entityType, country, ein, website, street, city, state, postalCode } = brand
  return {
    ...{ legalName, displayName, entityType, country, website },
    ...(ein !== null && { registrationId: ein }),
    address: { street, city, state, postalCode, country },
  }
}

function wireVerification(submission: Submission | null, prefill: WireVerification['prefill']): WireVerification {
  if (submission === null) return { status: 'missing', submission: null, prefill }
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
    prefill,
  }
}

function refuseTestKey({ test }: Caller): void {
  if (!test) return
  throw new Refusal('forbidden', {
    message: 'This is a test key: it only reads the verification of the business, and needs none.',
    hint: 'Use a live key.',
  })
}
