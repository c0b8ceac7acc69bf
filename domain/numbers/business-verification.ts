/**
 * Verifies an organization's business. The law requires this before an organization may buy phone numbers. One
 * verification applies to an organization's live and test keys together.
 */
import type { Clock } from '../ports/system.ts'
import { ResourceFault, refuseIssues, type ValuePath } from '../records/resource-fault.ts'
import type { VerificationStatus } from '../records/verification.ts'
import { statusAfter } from './verification-states.ts'

/** The forms for a verification. In a draft they may be incomplete. */
export type VerificationForms = {
  businessProfile: Readonly<Record<string, unknown>> | null
  authorizedRepresentative: Readonly<Record<string, unknown>> | null
  attestationAccepted: boolean
}

/** If the representative is absent, the draft's representative is submitted. */
export type SubmittedForms = Omit<VerificationForms, 'authorizedRepresentative'> &
  Partial<Pick<VerificationForms, 'authorizedRepresentative'>>

/** An organization's verification. Each organization has at most one verification. */
export type Submission = VerificationForms & {
  id: string
  organizationId: string
  status: Exclude<VerificationStatus, 'missing'>
  attestedAtMs: number | null
  submittedByApiKeyId: string | null
  submittedAtMs: number | null
  /** When the automatic review ends. Null if the operator reviews the submission. */
  reviewDueAtMs: number | null
  reviewedAtMs: number | null
  rejectionReason: string | null
  createdAtMs: number
  updatedAtMs: number
}

export interface SubmissionStore {
  find(organizationId: string): Promise<Submission | null>
  /** Lists submissions from all organizations, oldest first. */
  list(limit: number): Promise<Submission[]>
  /**
   * Reads the submission, calls `change` and writes the result, while the organization's row is locked. If `change`
   * throws or returns null, nothing is written. Resolves with null if nothing was written or if the organization does
   * not exist.
   */
  change(
    organizationId: string,
    change: (submission: Submission | null) => Submission | null,
  ): Promise<Submission | null>
}

export type Review = 'auto' | 'operator'
export type Decision = { event: 'approve' | 'revoke' } | { event: 'reject'; reason: string }

export type VerificationDeps = {
  store: SubmissionStore
  review: Review
  clock: Clock
  submissionId: () => string
  isPhoneNumber: (text: string) => boolean
}

export type BusinessVerifications = {
  find(organizationId: string): Promise<Submission | null>
  statusOf(organizationId: string): Promise<VerificationStatus>
  /** Saves a draft. Replaces the previous draft. Throws ResourceFault, also if the status does not allow this. */
  saveDraft(organizationId: string, forms: VerificationForms): Promise<Submission>
  /** Submits the forms for review. Throws ResourceFault, also if the status does not allow this. */
  submit(organizationId: string, forms: SubmittedForms, keyId: string): Promise<Submission>
  list(): Promise<Submission[]>
  /**
   * Stores the operator's decision. Resolves with the changed submission, or with the current status if it does not
   * allow the decision.
   */
  decide(organizationId: string, decision: Decision): Promise<Submission | VerificationStatus>
}

/** How long the automatic review takes. */
const reviewMs = 2_000
const listedMax = 10_000

export function createBusinessVerifications(deps: VerificationDeps): BusinessVerifications {
  const { store, clock } = deps
  const settled = (submission: Submission | null) => submission && afterReview(submission, clock.nowMs())

  /**
   * Finds the submission. If its automatic review has ended, the result is written now. So the review needs no timer,
   * and a process's end cannot lose its result.
   */
  async function find(organizationId: string): Promise<Submission | null> {
    const stored = await store.find(organizationId)
    return settled(stored) === stored ? stored : store.change(organizationId, settled)
  }

  async function write(organizationId: string, event: 'save' | 'submit', sent: Partial<Submission>) {
    const changed = await store.change(organizationId, (stored) => {
      const before = settled(stored)
      const status = statusAfter(before?.status ?? 'missing', event)
      if (status === undefined) throw new ResourceFault({ kind: 'kyb_conflict', status: before?.status ?? 'missing' })
      return { ...(before ?? blank(deps, organizationId)), ...sent, status, updatedAtMs: clock.nowMs() }
    })
    if (changed === null) throw new Error('the organization of a live key is not stored')
    return changed
  }

  return {
    find,
    statusOf: async (organizationId) => (await find(organizationId))?.status ?? 'missing',
    saveDraft: async (organizationId, forms) => {
      refusePhone(forms, deps)
      return write(organizationId, 'save', { ...forms, attestedAtMs: null })
    },
    submit: async (organizationId, forms, keyId) => {
      refusePhone(forms, deps)
      const nowMs = clock.nowMs()
      const sent = { ...forms, attestedAtMs: nowMs, submittedAtMs: nowMs, submittedByApiKeyId: keyId }
      const reviewDueAtMs = deps.review === 'auto' ? nowMs + reviewMs : null
      return write(organizationId, 'submit', { ...sent, reviewDueAtMs, reviewedAtMs: null, rejectionReason: null })
    },
    list: async () => (await store.list(listedMax)).map((submission) => settled(submission) ?? submission),
    async decide(organizationId, decision) {
      let refusedIn: VerificationStatus | null = null
      const changed = await store.change(organizationId, (stored) => {
        const before = settled(stored)
        const next = before && decided(before, decision, clock.nowMs())
        if (next === null) refusedIn = before?.status ?? 'missing'
        return next
      })
      return refusedIn ?? changed ?? 'missing'
    },
  }
}

/** Returns the submission after the decision, or null if the status does not allow the decision. */
function decided(submission: Submission, decision: Decision, nowMs: number): Submission | null {
  const status = statusAfter(submission.status, decision.event)
  if (status === undefined) return null
  const rejectionReason = decision.event === 'reject' ? decision.reason : null
  return { ...submission, status, rejectionReason, reviewedAtMs: nowMs, updatedAtMs: nowMs }
}

/** Returns the submission after its automatic review. If no review has ended, returns the same object. */
function afterReview(submission: Submission, nowMs: number): Submission {
  const { status, reviewDueAtMs, businessProfile } = submission
  if (status !== 'submitted' || reviewDueAtMs === null || nowMs < reviewDueAtMs) return submission
  const legalName = businessProfile?.['legalName']
  const isRejected = typeof legalName === 'string' && legalName.includes('Reject')
  const decision: Decision = isRejected
    ? { event: 'reject', reason: 'The automatic review rejects a legalName with the word Reject.' }
    : { event: 'approve' }
  return decided(submission, decision, reviewDueAtMs) ?? submission
}

function blank({ clock, submissionId }: VerificationDeps, organizationId: string): Omit<Submission, 'status'> {
  const nowMs = clock.nowMs()
  return {
    id: submissionId(),
    organizationId,
    businessProfile: null,
    authorizedRepresentative: null,
    attestationAccepted: false,
    attestedAtMs: null,
    submittedByApiKeyId: null,
    submittedAtMs: null,
    reviewDueAtMs: null,
    reviewedAtMs: null,
    rejectionReason: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  }
}

/** Refuses an invalid phone number. An empty field is allowed, because it counts as missing. */
function refusePhone({ authorizedRepresentative }: SubmittedForms, { isPhoneNumber }: VerificationDeps): void {
  const phone = authorizedRepresentative?.['phone']
  if (typeof phone !== 'string' || phone === '' || isPhoneNumber(phone)) return
  const path: ValuePath = ['authorizedRepresentative', 'phone']
  refuseIssues([{ path, problem: { kind: 'number_invalid' } }])
}
