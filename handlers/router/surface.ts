/** The router API: text, speech and models with every routing choice. */
import type { Operations } from '../../domain/operations.ts'
import type { Caller } from '../../domain/records/organization.ts'
import { routerContract } from '../../generated/router/contract.ts'
import { type RouterHandlers, widenRouterHandlers } from '../../generated/router/handlers.ts'
import { routerSurface } from '../../generated/router/routes.ts'
import type { OpenapiDocument } from '../../generated/router/types.ts'
import type { Mount } from '../../runtime/engine/options.ts'
import { serveContract } from '../contract.ts'
import { routerPlaces } from '../faults/places.ts'
import { createFaultWriter } from '../faults/writer.ts'
import { mountOf, type SurfaceSettings } from '../surface.ts'
import { listModels } from './models.ts'
import { createResponse } from './response.ts'
import { createSpeech } from './speech.ts'
import { createTranscription } from './transcription.ts'

export type RouterDeps = {
  operations: Operations
  region: string
  /** The longest accepted recording. */
  durationMaxMs: number
}

export function mountRouter(settings: SurfaceSettings, deps: RouterDeps): Mount {
  const basePath = settings.host ? '' : '/router'
  const contract = `${basePath}/openapi.json`
  return {
    ...mountOf(settings),
    basePath,
    surface: routerSurface,
    handlers: widenRouterHandlers(handlersOf(settings, deps)),
    writeFault: createFaultWriter({ ...settings, contract, hasIdempotencyKeys: true, places: routerPlaces }),
  }
}

function handlersOf(settings: SurfaceSettings, { operations, ...deps }: RouterDeps): RouterHandlers<Caller> {
  return {
    getOpenapi: serveContract<OpenapiDocument>(routerContract, settings),
    listModels: listModels(operations.listModels, deps.region),
    createTranscription: createTranscription({ ...deps, transcribe: operations.transcribe }),
    createSpeech: createSpeech(operations),
    createResponse: createResponse({ ...deps, generate: operations.generateItems }),
  }
}
