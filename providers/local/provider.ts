/** The provider that needs no account and no network: embedded speech in child processes and a language model of rules. */
import type { Clock, Log } from '../../domain/ports.ts'
import type { Provider } from '../../domain/routing/provider.ts'
import { localModels } from './catalog.ts'
import { ChildPool } from './pool.ts'
import { createScriptedLlm } from './scripted.ts'
import { createLocalStt, type SttProgress } from './stt.ts'
import { createLocalTts } from './tts.ts'

export type LocalOptions = {
  /** Children that recognise: up to 330 MB and one core each. */
  sttProcesses: number
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
  const { sttProcesses, ttsProcesses, jobTimeoutMs, onProgress, ...rest } = options
  const sttPool = new ChildPool({ ...rest, entry: 'stt-child', processes: sttProcesses, stopMs })
  const ttsPool = new ChildPool({ ...rest, entry: 'tts-child', processes: ttsProcesses, stopMs })
  return {
    id: 'local',
    models: localModels,
    unavailable: () => null,
    stt: createLocalStt({ pool: sttPool, jobTimeoutMs, ...(onProgress && { onProgress }) }),
    tts: createLocalTts({ pool: ttsPool, jobTimeoutMs }),
    llm: createScriptedLlm(),
    close: async () => {
      await Promise.all([sttPool.close(), ttsPool.close()])
    },
  }
}
