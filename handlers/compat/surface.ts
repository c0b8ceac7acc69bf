/** The OpenAI-compatible API: OpenAI's routes, and our native routes beside them. */
import type { EphemeralTokens } from '../../domain/access/ephemeral.ts'
import type { Operations } from '../../domain/operations.ts'
import type { Caller } from '../../domain/records/organization.ts'
import { compatContract } from '../../generated/compat/contract.ts'
import {
  type CompatHandlers,
  type CreateRealtimeSessionRequest,
  widenCompatHandlers,
} from '../../generated/compat/handlers.ts'
import { compatSurface } from '../../generated/compat/routes.ts'
import type { AsyncapiDocument, OpenapiDocument } from '../../generated/compat/types.ts'
import { realtimeContract } from '../../generated/realtime/contract.ts'
import { type Context, type FaultWriter, Refusal } from '../../runtime/engine/handler.ts'
import type { Mount } from '../../runtime/engine/options.ts'
import { serveContract, serveSocketContract } from '../contract.ts'
import { compatPlaces } from '../faults/places.ts'
import { createFaultWriter } from '../faults/writer.ts'
import type { PublicUrlOf } from '../public-url.ts'
import { isConversationModel, otherOperation } from '../realtime-conversations.ts'
import { mountOf, type SurfaceSettings } from '../surface.ts'
import { nativeOperations } from './native/operations.ts'
import { createChat } from './openai/chat.ts'
import { createChatCompletion } from './openai/chat-completions.ts'
import { getCompatModel, listCompatModels, listCompatSpeechModels, listCompatVoices } from './openai/models.ts'
import { createCompatResponse } from './openai/responses.ts'
import { createCompatSpeech, streamCompatSpeech } from './openai/speech.ts'
import { createCompatTranscription } from './openai/transcriptions.ts'

export type CompatDeps = {
  operations: Operations
  mint: EphemeralTokens['mint']
  /**
   * Makes a token for one realtime session. The realtime API implements this operation, because it defines the
   * session's fields.
   */
  clientSecret: CompatHandlers<Caller>['createRealtimeClientSecret']
  /** The host name that serves only the realtime API's sockets, or null. */
  realtimeHost: string | null
  /** The longest accepted recording. */
  durationMaxMs: number
  /** The maximum number of sample bytes in a WAV. It is limited because a WAV is collected in memory. */
  wavBytesMax: number
  /**
   * True if `/v1/complete` and `/v1/transcribe` send an event stream when the client accepts JSON and event streams
   * equally.
   */
  nativeStreams: boolean
  publicUrlOf: PublicUrlOf
  /** The start of this process, in seconds since 1970. */
  startedS: number
}

export function mountCompat(settings: SurfaceSettings, deps: CompatDeps): Mount {
  const contract = '/openapi/compat.json'
  const writeFault = createFaultWriter({ ...settings, contract, hasIdempotencyKeys: false, places: compatPlaces })
  return {
    ...mountOf(settings),
    surface: compatSurface,
    handlers: widenCompatHandlers(handlersOf(settings, deps, writeFault)),
    writeFault,
  }
}

function handlersOf(settings: SurfaceSettings, deps: CompatDeps, writeFault: FaultWriter): CompatHandlers<Caller> {
  const {
    operations,
    mint,
    clientSecret,
    realtimeHost,
    durationMaxMs,
    wavBytesMax,
    nativeStreams,
    startedS,
    publicUrlOf,
  } = deps
  const chat = { ...operations, chat: createChat(operations.dispatch) }
  const speech = { ...operations, wavBytesMax }
  const transcription = { ...operations, durationMaxMs }
  return {
    getCompatContract: serveContract<OpenapiDocument>(compatContract, settings),
    // The OpenAI-compatible API also serves the contract for the realtime API's sockets.
    getRealtimeContract: serveSocketContract<AsyncapiDocument>(
      realtimeContract,
      { ...settings, host: realtimeHost },
      publicUrlOf,
    ),
    createChatCompletion: createChatCompletion(chat),
    createCompatResponse: createCompatResponse({
      generate: operations.generateMessages,
      catalog: operations.catalog,
      clock: operations.dispatch.clock,
      writeFault,
    }),
    createCompatTranscription: createCompatTranscription(transcription),
    createCompatSpeech: createCompatSpeech(speech),
    streamCompatSpeech: streamCompatSpeech(speech),
    listCompatModels: listCompatModels(operations.listCatalog, startedS),
    listCompatVoices: listCompatVoices(operations.listCatalog),
    listCompatSpeechModels: listCompatSpeechModels(operations.listCatalog),
    getCompatModel: getCompatModel(operations.findModel, startedS),
    ...nativeOperations({ ...chat, wavBytesMax, durationMaxMs, streams: nativeStreams }),
    createRealtimeClientSecret: clientSecret,
    createRealtimeSession: createRealtimeSession(mint),
  }
}

/** Makes a token with which a browser opens one socket. The client's API key mints the token. */
export function createRealtimeSession(mint: EphemeralTokens['mint']) {
  return ({ body }: Pick<CreateRealtimeSessionRequest, 'body'>, { caller }: Context<Caller>) => {
    const model = body?.model
    if (model !== undefined && isConversationModel(model))
      throw new Refusal('invalid_parameter', {
        param: '/model',
        message: 'Tokens open sockets for transcription and for speech, and no model here holds conversations.',
        hint: otherOperation,
      })
    const { value, expiresInS } = mint(caller)
    const headers = { 'Cache-Control': 'no-store' } as const
    return { status: 200, headers, body: { client_secret: { value, expires_in: expiresInS } } } as const
  }
}
