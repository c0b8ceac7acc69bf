/** The verification of the business of an organization. Live and test keys share it, and test keys only read it. */
import type { Caller } from '../../domain/access/organization.ts'
import type {
  BusinessVerifications,
  Submission,
  VerificationForms,
} from '../../domain/numbers/business-verification.ts'
import type { BrandProfile } from '../../domain/ports/sms-registry.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type {
  BusinessVerificationDraft,
  NewBusinessVerification,
  BusinessVerification as WireVerification,
} from '../../generated/platform/types.ts'
import { Refusal } from '../../runtime/engine/handler.ts'
import { timeOf, timeOrNull } from './times.ts'

type Handlers = PlatformHandlers<Caller>

/** The brand of the 10DLC registration of live keys. Null: none was saved. */
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

/** Throws a Refusal without the forms, or with the short form beside them. */
function submittedForms({ declaration, ...body }: NewBusinessVerification): VerificationForms {
  const missing = (['businessProfile', 'authorizedRepresentative'] as const).filter((form) => body[form] === undefined)
  if (declaration === undefined && missing.length === 0) return formsOf(body)
  if (declaration === undefined || missing.length < 2) throw refuseForms(missing)
  const { businessName, useCase } = declaration
  return formsOf({ ...body, businessProfile: { legalName: businessName, displayName: businessName, useCase } })
}

function refuseForms(missing: readonly string[]): Refusal {
  const fields = missing.length > 0 ? missing : ['declaration']
  const message =
    missing.length > 0 ? 'is required, or both forms are replaced by declaration' : 'cannot stand beside the forms'
  const keyword = missing.length > 0 ? 'required' : 'additionalProperties'
  const issues = fields.map((field) => ({ path: `/${field}`, message, keyword }))
  return new Refusal('invalid_parameter', { message: `${issues[0]?.path} ${message}`, issues })
}

/** The part of a business profile that the brand has already. */
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
