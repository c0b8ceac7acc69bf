import { platformContract } from '../../generated/platform/contract.ts'
import type { AsyncapiDocument, OpenapiDocument } from '../../generated/platform/types.ts'
import { sessionContract } from '../../generated/session/contract.ts'
import { serveContract, serveSocketContract } from '../contract.ts'
import type { PublicUrlOf } from '../public-url.ts'
import type { SurfaceSettings } from '../surface.ts'

/** Serves the contracts of the platform API and of its session sockets. */
export function contractOperations(settings: SurfaceSettings, publicUrlOf: PublicUrlOf) {
  return {
    getPlatformContract: serveContract<OpenapiDocument>(platformContract, settings),
    getSessionContract: serveSocketContract<AsyncapiDocument>(sessionContract, settings, publicUrlOf),
  }
}
