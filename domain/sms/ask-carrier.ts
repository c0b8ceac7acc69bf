import { SmsRegistryError } from '../ports/sms-registry.ts'
import { ResourceFault } from '../records/resource-fault.ts'

/**
 * Sends a request to the carrier and returns the answer. If the carrier refuses the request or its answer is malformed,
 * `refused` is called to store the reasons. Then the function throws ResourceFault `sms_carrier_failed`.
 */
export async function askCarrier<Answer>(
  of: 'brand' | 'campaign' | 'vetting' | 'number',
  ask: () => Promise<Answer>,
  refused: (error: SmsRegistryError) => Promise<unknown> = () => Promise.resolve(),
): Promise<Answer> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof SmsRegistryError)) throw error
    await refused(error)
    throw new ResourceFault({ kind: 'sms_carrier_failed', of }, { cause: error })
  }
}
