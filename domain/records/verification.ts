export type VerificationStatus = 'missing' | 'draft' | 'submitted' | 'approved' | 'rejected' | 'revoked'

/**
 * States if an organization's business was verified. The law requires this before the organization may have numbers.
 */
export interface BusinessVerification {
  statusOf(organizationId: string): Promise<VerificationStatus>
}
