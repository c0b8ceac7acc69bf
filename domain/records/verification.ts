export type VerificationStatus = 'missing' | 'draft' | 'submitted' | 'approved' | 'rejected' | 'revoked'

/** Says whether an organization's business was verified. The law requires this before it may have numbers. */
export interface BusinessVerification {
  statusOf(organizationId: string): Promise<VerificationStatus>
}
