export type VerificationStatus = 'missing' | 'draft' | 'submitted' | 'approved' | 'rejected' | 'revoked'

/** Whether the business of an organization was verified, which the law asks for before it may have numbers. */
export interface BusinessVerification {
  statusOf(organizationId: string): Promise<VerificationStatus>
}
