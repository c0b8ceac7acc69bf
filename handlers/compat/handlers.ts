import type { Caller } from '../../domain/access/organization.ts'
import type { CatalogList } from '../../domain/routing/catalog-list.ts'
import type { Preview, PreviewQuery } from '../../domain/routing/preview.ts'
import type { CompatHandlers } from '../../generated/compat/handlers.ts'
import type { AsyncapiDocument, OpenapiDocument } from '../../generated/compat/types.ts'
import { serveContract } from '../contract.ts'
import { createComplete } from './native/complete.ts'
import { createPreviewRouting } from './native/preview.ts'
import { createSynthesize } from './native/synthesize.ts'
import { createTranscribe } from './native/transcribe.ts'
import { type ChatDeps, createChatCompletion } from './openai/chat-completions.ts'
import { createListCompatModels } from './openai/models.ts'
import { createCompatSpeech, type SpeechDeps, streamCompatSpeech } from './openai/speech.ts'
import { createCompatTranscription, type TranscriptionDeps } from './openai/transcriptions.ts'

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
