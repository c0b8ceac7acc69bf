/** The provider that needs no account and no network: embedded speech in child processes and a language model of rules. */

import type { Provider } from '../../domain/ports/provider.ts'
import type { Clock, Log } from '../../domain/ports/system.ts'
import { ChildPool } from './child-pool.ts'
import { createScriptedLlm } from './llm.ts'
import { localModels } from './models.ts'
import { createLocalStt, type SttProgress } from './stt.ts'
import { StreamPool } from './stt-live.ts'
import { createLocalTts } from './tts.ts'

export type LocalOptions = {
  /** Children that recognise: up to 330 MB and one core each; as many again for streams. */
  sttProcesses: number
  /** Streams that one child recognises at a time. Eight with partial results took half a core on average; more of them get fewer partials. */
  sttStreamsMax: number
  /** Children that speak: about 100 MB each. */
  ttsProcesses: number
  /** Requests that may wait, for each of the two kinds. */
  queueMax: number
  /** For one sentence, or a recording of no length: half of the recording's duration is added. */
  jobTimeoutMs: number
  /** A child without work for this long is ended. */
  idleMs: number
  clock: Clock
  log: Log
  onProgress?: (progress: SttProgress) => void
}

/** A token of the recogniser takes some 10 ms, a sentence of the voice some 200. */
const stopMs = 2000

export function createLocalProvider(options: LocalOptions): Provider {
  const { sttProcesses, sttStreamsMax, ttsProcesses, jobTimeoutMs, onProgress, ...rest } = options
  const sttPool = new ChildPool({ ...rest, entry: 'stt-child', processes: sttProcesses, stopMs })
  const streams = new StreamPool({
    ...rest,
    processes: sttProcesses,
    streamsMax: sttStreamsMax,
    openMs: jobTimeoutMs,
    stopMs,
  })
  const ttsPool = new ChildPool({ ...rest, entry: 'tts-child', processes: ttsProcesses, stopMs })
  return {
    id: 'local',
    models: localModels,
    unavailable: () => null,
    ports: {
      speech: {
        stt: createLocalStt({ pool: sttPool, streams, jobTimeoutMs, ...(onProgress && { onProgress }) }),
        tts: createLocalTts({ pool: ttsPool, jobTimeoutMs }),
      },
      llm: createScriptedLlm(),
    },
    close: async () => {
      await Promise.all([sttPool.close(), streams.close(), ttsPool.close()])
    },
  }
}
