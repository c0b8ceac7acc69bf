import type { Caller } from '../../domain/access/organization.ts'
import type { CatalogList } from '../../domain/routing/catalog-list.ts'
import type { Preview, PreviewQuery } from '../../domain/routing/preview.ts'
import type { CompatHandlers } from '../../generated/compat/handlers.ts'
import type { AsyncapiDocument, OpenapiDocument } from '../../generated/compat/types.ts'
import { serveContract } from '../contract.ts'
import { type ChatDeps, createChatCompletion } from './chat-completions.ts'
import { createComplete } from './complete.ts'
import { createListCompatModels } from './models.ts'
import { createPreviewRouting } from './preview.ts'
import { createCompatSpeech, type SpeechDeps, streamCompatSpeech } from './speech.ts'
import { createSynthesize } from './synthesize.ts'
import { createTranscribe } from './transcribe.ts'
import { createCompatTranscription, type TranscriptionDeps } from './transcriptions.ts'

export type CompatDeps = ChatDeps &
  SpeechDeps &
  TranscriptionDeps & {
    listCatalog: () => CatalogList
    preview: (query: PreviewQuery) => Preview
    contract: string
    realtimeContract: string
    headerPrefix: string
    /** Seconds since 1970. */
    startedS: number
  }

/** All of the surface but the tokens for browsers, which belong to the realtime side. */
export function createCompatHandlers(deps: CompatDeps): Omit<CompatHandlers<Caller>, 'createRealtimeSession'> {
  return {
    getCompatContract: serveContract<OpenapiDocument>(deps.contract, deps.headerPrefix),
    // The sockets' contract, from the same place as the others.
    getRealtimeContract: serveContract<AsyncapiDocument>(deps.realtimeContract, deps.headerPrefix),
    createChatCompletion: createChatCompletion(deps),
    createCompatTranscription: createCompatTranscription(deps),
    createCompatSpeech: createCompatSpeech(deps),
    streamCompatSpeech: streamCompatSpeech(deps),
    listCompatModels: createListCompatModels(deps.listCatalog, deps.startedS),
    previewRouting: createPreviewRouting(deps.preview),
    synthesize: createSynthesize(deps),
    transcribe: createTranscribe(deps),
    complete: createComplete(deps),
  }
}
