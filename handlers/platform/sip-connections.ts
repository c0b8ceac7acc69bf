import type { SipConnectionOperations } from '../../domain/numbers/sip-connections.ts'
import { type Caller, tenantOf } from '../../domain/records/organization.ts'
import type { OwnedConnection } from '../../domain/records/sip-connection.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type { SipConnection } from '../../generated/platform/types.ts'
import { sipOf } from './sip-status.ts'
import { timeOf } from './times.ts'

/**
 * Makes the operations on SIP connections. `uri` is the SIP URI to which trunks send calls. Test keys' trunks are
 * simulated and send no calls, so their `uri` is null.
 */
export function sipConnectionOperations(connections: SipConnectionOperations, uri: string | null) {
  return {
    listSipConnections: async (_request, { caller }) => ({
      status: 200,
      body: (await connections.list(tenantOf(caller))).map((connection) => wired(connection, uri)),
    }),
    createSipConnection: async ({ body }, { caller }) => ({
      status: 201,
      body: wired(await connections.create(tenantOf(caller), body), uri),
    }),
    updateSipConnection: async ({ path, body }, { caller }) => ({
      status: 200,
      body: wired(await connections.change(tenantOf(caller), path.id, body), uri),
    }),
    deleteSipConnection: async ({ path }, { caller }) => {
      await connections.remove(tenantOf(caller), path.id)
      return { status: 204 }
    },
    checkSipConnection: async ({ path }, { caller }) => {
      const { sipCode, roundTripMs, error, checkedAtMs } = await connections.check(tenantOf(caller), path.id)
      const { sip_status_code: sipStatusCode, sip_status: sipStatus } = sipOf({ sipCode })
      const checkedAt = timeOf(checkedAtMs)
      return { status: 200, body: { ok: error === null, sipStatusCode, sipStatus, roundTripMs, error, checkedAt } }
    },
  } satisfies Partial<PlatformHandlers<Caller>>
}

function wired(connection: OwnedConnection, uri: string | null): SipConnection {
  const { test, inbound, createdAtMs, updatedAtMs, ...same } = connection
  return {
    ...same,
    ...(test && { test: true }),
    inbound: inbound && { ...inbound, allowedAddresses: [...inbound.allowedAddresses], uri: test ? null : uri },
    createdAt: timeOf(createdAtMs),
    updatedAt: timeOf(updatedAtMs),
  }
}
