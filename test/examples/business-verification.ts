import type { Test } from 'tap'
import type { Administration } from '../platform/setup.ts'
import type { Examples, Sent } from './run.ts'

/**
 * Compares responses about the verification of a business, which an operator would review, with the contract's
 * examples.
 */
export async function compareVerification(t: Test, examples: Examples, admin: Administration): Promise<void> {
  const acme = await admin.organization('with a business')
  const compare = async (sent: Sent, ...names: string[]) => {
    const received = await examples.send(acme, sent)
    for (const example of names) examples.compare(t, received, { example })
  }
  const draft = { operation: 'saveBusinessVerificationDraft', request: 'name' }
  const get = { operation: 'getBusinessVerification' }
  await compare(get, 'getBusinessVerification 200: missing')
  await compare(draft, 'saveBusinessVerificationDraft 200: name')
  await compare(get, 'getBusinessVerification 200: draft')
  const submit = { operation: 'submitBusinessVerification', request: 'business' }
  await compare(submit, 'submitBusinessVerification 200: business')
  await compare(draft, 'BusinessVerificationConflict: submitted')
}
