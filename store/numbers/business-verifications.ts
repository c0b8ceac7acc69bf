/**
 * Organizations' submissions for business verification. Every statement names the organization, except the operator's
 * list.
 */
import type { Submission, SubmissionStore } from '../../domain/numbers/business-verification.ts'
import type { Tx } from '../postgres/connect.ts'
import { dateOrNull } from '../postgres/row-values.ts'
import type { Tenancy } from '../postgres/tenant.ts'

export function createSubmissionStore(tenancy: Tenancy): SubmissionStore {
  return {
    find: (organizationId) => tenancy.asOrganization(organizationId, (tx) => read(tx, organizationId)),
    list: (limit) =>
      tenancy.asOperator(async (tx) => {
        const rows = await tx<Row[]>`
          select ${columns(tx)} from business_verifications order by created_at, id limit ${limit}`
        return rows.map(submissionOf)
      }),
    change: (organizationId, change) =>
      tenancy.asOrganization(organizationId, async (tx) => {
        // Locks the organization and not the submission, because the submission's row may not exist yet.
        const organizations = await tx`select from organizations where id = ${organizationId} for no key update`
        if (organizations.length === 0) return null
        const changed = change(await read(tx, organizationId))
        if (changed !== null) await write(tx, changed)
        return changed
      }),
  }
}

type TimeName = 'attestedAt' | 'submittedAt' | 'reviewDueAt' | 'reviewedAt' | 'createdAt' | 'updatedAt'
type Row = Omit<Submission, `${TimeName}Ms`> &
  Record<'createdAt' | 'updatedAt', Date> &
  Record<'attestedAt' | 'submittedAt' | 'reviewDueAt' | 'reviewedAt', Date | null>

const columns = (tx: Tx) => tx`
  id, organization_id as "organizationId", status, business_profile as "businessProfile",
  authorized_representative as "authorizedRepresentative", attestation_accepted as "attestationAccepted",
  attested_at as "attestedAt", submitted_by_api_key_id as "submittedByApiKeyId", submitted_at as "submittedAt",
  review_due_at as "reviewDueAt", reviewed_at as "reviewedAt", rejection_reason as "rejectionReason", created_at as "createdAt", updated_at as "updatedAt"`

async function read(tx: Tx, organizationId: string): Promise<Submission | null> {
  const [row] = await tx<Row[]>`
    select ${columns(tx)} from business_verifications where organization_id = ${organizationId}`
  return row ? submissionOf(row) : null
}

function submissionOf(stored: Row): Submission {
  const { attestedAt, submittedAt, reviewDueAt, reviewedAt, createdAt, updatedAt, ...row } = stored
  return {
    ...row,
    attestedAtMs: attestedAt?.getTime() ?? null,
    submittedAtMs: submittedAt?.getTime() ?? null,
    reviewDueAtMs: reviewDueAt?.getTime() ?? null,
    reviewedAtMs: reviewedAt?.getTime() ?? null,
    createdAtMs: createdAt.getTime(),
    updatedAtMs: updatedAt.getTime(),
  }
}

async function write(tx: Tx, submission: Submission): Promise<void> {
  const { id, organizationId, status, businessProfile: profile, authorizedRepresentative: person } = submission
  await tx`
    insert into business_verifications (organization_id, id, status, business_profile, authorized_representative,
      attestation_accepted, attested_at, submitted_by_api_key_id, submitted_at, review_due_at, reviewed_at, rejection_reason,
      created_at, updated_at)
    values (${organizationId}, ${id}, ${status}, ${jsonOrNull(profile)}::text::json, ${jsonOrNull(person)}::text::json,
      ${submission.attestationAccepted}, ${dateOrNull(submission.attestedAtMs)}, ${submission.submittedByApiKeyId},
      ${dateOrNull(submission.submittedAtMs)}, ${dateOrNull(submission.reviewDueAtMs)}, ${dateOrNull(submission.reviewedAtMs)}, ${submission.rejectionReason},
      ${new Date(submission.createdAtMs)}, ${new Date(submission.updatedAtMs)})
    on conflict (organization_id) do update set status = excluded.status, business_profile = excluded.business_profile,
      authorized_representative = excluded.authorized_representative, attestation_accepted = excluded.attestation_accepted,
      attested_at = excluded.attested_at, submitted_by_api_key_id = excluded.submitted_by_api_key_id,
      submitted_at = excluded.submitted_at, review_due_at = excluded.review_due_at, reviewed_at = excluded.reviewed_at, rejection_reason = excluded.rejection_reason,
      updated_at = excluded.updated_at`
}

const jsonOrNull = (value: object | null) => (value === null ? null : JSON.stringify(value))
