/** The native operations, which accept a routing intent in the request and report failovers in the response. */
import type { Operations } from '../../../domain/operations.ts'
import type { SpeechDeps } from '../openai/speech.ts'
import type { TranscriptionDeps } from '../openai/transcriptions.ts'
import { type CompleteDeps, complete } from './complete.ts'
import { previewRouting } from './preview.ts'
import { synthesize } from './synthesize.ts'
import { transcribe } from './transcribe.ts'

export type NativeDeps = CompleteDeps & SpeechDeps & TranscriptionDeps & Pick<Operations, 'preview'>

export function nativeOperations(deps: NativeDeps) {
  return {
    previewRouting: previewRouting(deps.preview),
    synthesize: synthesize(deps),
    transcribe: transcribe(deps),
    complete: complete(deps),
  }
}
