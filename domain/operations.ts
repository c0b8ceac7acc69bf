/** Makes the operations for all APIs. Each operation is made once, with the same dependencies. */
import type { DispatchDeps } from './dispatch/request.ts'
import { createGenerate } from './llm/generate.ts'
import { itemsTranslation, messagesTranslation } from './llm/items.ts'
import { createCatalogList, createFindModel } from './routing/catalog-list.ts'
import { createListModels } from './routing/list-models.ts'
import { createPreview } from './routing/preview.ts'
import type { ConvertSpeech } from './speech/open-speech.ts'
import { createStreamAdmission } from './speech/stream-admission.ts'
import { createCheckTranscribeStream } from './speech/stream-request.ts'
import { createSynthesize } from './speech/synthesize.ts'
import { createSynthesizeStream, type SynthesizeStreamLimits } from './speech/synthesize-stream.ts'
import { createTranscribe } from './speech/transcribe.ts'
import { createTranscribeStream, type TranscribeStreamLimits } from './speech/transcribe-stream.ts'

export type OperationDeps = {
  dispatch: DispatchDeps
  convert: ConvertSpeech
  transcribeStreams: TranscribeStreamLimits
  synthesizeStreams: SynthesizeStreamLimits
}

export type Operations = ReturnType<typeof createOperations>

export function createOperations({ dispatch, convert, transcribeStreams, synthesizeStreams }: OperationDeps) {
  const { chooser } = dispatch
  return {
    /**
     * For the compatible API (chat completions), which makes another operation for LLM requests, in its wire format.
     */
    dispatch,
    catalog: chooser.world.catalog,
    transcribe: createTranscribe(dispatch),
    synthesize: createSynthesize({ ...dispatch, convert }),
    generateItems: createGenerate(dispatch, itemsTranslation),
    generateMessages: createGenerate(dispatch, messagesTranslation),
    transcribeStream: createTranscribeStream({ ...dispatch, streams: transcribeStreams }),
    checkTranscribeStream: createCheckTranscribeStream(dispatch),
    synthesizeStream: createSynthesizeStream({ ...dispatch, convert, streams: synthesizeStreams }),
    admitStream: createStreamAdmission(dispatch),
    listModels: createListModels(chooser),
    listCatalog: createCatalogList(chooser),
    findModel: createFindModel(chooser),
    preview: createPreview(chooser),
  }
}
