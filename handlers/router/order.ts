import { hash } from 'node:crypto'
import type { Caller } from '../../domain/access/organization.ts'
import type { RequestContext } from '../../domain/dispatch/request.ts'
import { type RawRouting, type Routing, readRouting } from '../../domain/routing/routing.ts'
import type { Routing as WireRouting } from '../../generated/router/types.ts'
import type { Context } from '../../runtime/engine/handler.ts'

/** Who asks, under which key. A POST of this surface always has a key and a content hash: the engine saw to both. */
export function orderOf(
  header: { 'idempotency-key': string },
  context: Context<Caller>,
): RequestContext & Required<Pick<RequestContext, 'key'>> {
  const { caller, requestId, operation, contentHash, signal } = context
  const keyDigest = hash('sha256', header['idempotency-key'])
  return { caller, requestId, operation, key: { keyDigest, contentHash: contentHash ?? '' }, signal }
}

export function routingOf(wire: WireRouting | undefined, caller: Caller): Routing {
  return readRouting(wire && rawRouting(wire), caller.policy.objective)
}

function rawRouting(wire: WireRouting): RawRouting {
  if (wire.mode === 'explicit')
    return { mode: wire.mode, model: wire.model, ...(wire.provider && { provider: wire.provider }) }
  return {
    mode: wire.mode,
    ...(wire.objective && { objective: wire.objective }),
    ...(wire.allow_providers && { allowProviders: wire.allow_providers }),
    ...(wire.deny_providers && { denyProviders: wire.deny_providers }),
  }
}
