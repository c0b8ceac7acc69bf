/** The operations on the rich-message numbers visible to an organization. */
import { type Caller, tenantOf } from '../../domain/records/organization.ts'
import type { ListRmsgNumbers, ShownRmsgNumber } from '../../domain/rmsg/list-numbers.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type { RmsgNumber } from '../../generated/platform/types.ts'
import { timeOrNull } from './times.ts'

export function rmsgNumberOperations(listNumbers: ListRmsgNumbers) {
  return {
    listRmsgNumbers: async (_request, { caller }) => ({
      status: 200,
      body: (await listNumbers(tenantOf(caller))).map(wired),
    }),
  } satisfies Partial<PlatformHandlers<Caller>>
}

function wired({
  id,
  e164,
  status,
  smsStatus,
  smsReadyAtMs,
  capabilities,
  agentId,
  test,
}: ShownRmsgNumber): RmsgNumber {
  return {
    ...{ id, phoneNumber: e164, status, smsStatus, smsReadyAt: timeOrNull(smsReadyAtMs), capabilities },
    ...(agentId !== undefined && { agentId }),
    ...(test && { test: true }),
  }
}
