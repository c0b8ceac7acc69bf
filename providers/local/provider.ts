/**
 * The provider that needs no account and no network. It has embedded speech engines in child processes and a language
 * model made of rules.
 */

import type { Provider } from '../../domain/ports/provider.ts'
import type { Clock, Log } from '../../domain/ports/system.ts'
import { createLocalAligner } from './aligner.ts'
import type { WarmInput } from './child-messages.ts'
import { ChildPool } from './child-pool.ts'
import { createScriptedLlm } from './llm.ts'
import { localModels } from './models.ts'
import { createLocalStt, type SttProgress } from './stt.ts'
import { StreamPool } from './stt-live.ts'
import { createLocalTts } from './tts.ts'

export type LocalOptions = {
  /**
   * The number of processes that recognise recordings, each with about 265 MiB and one core. Streams have as many
   * processes again.
   */
  sttProcesses: number
  /**
   * The most streams that one process recognises. Eight with interims took half a core on average; more streams get
   * fewer interims.
   */
  sttStreamsMax: number
  /** The number of processes that synthesize, each with about 100 MB. */
  ttsProcesses: number
  /** The most requests that may wait, for recognition and for synthesis each. */
  queueMax: number
  /** The limit for one sentence, or for a recording of length zero; half of a recording's duration is added. */
  jobTimeoutMs: number
  /** A process that is idle for this long is ended. */
  idleMs: number
  /**
   * One process that recognises recordings is started at once and never ended for being idle, and `warmUp` starts those of
   * a session.
   */
  warm: boolean
  clock: Clock
  log: Log
  onProgress?: (progress: SttProgress) => void
}

/** A job stops after a token of the recogniser, which takes some 10 ms, or after a sentence of the voice, some 200 ms. */
const stopMs = 2000

/** The start of a server has the processor for itself until then. */
const warmUpAfterMs = 500

export function createLocalProvider(options: LocalOptions): Provider {
  const { sttProcesses, sttStreamsMax, ttsProcesses, jobTimeoutMs, onProgress, warm, ...rest } = options
  const sttPool = new ChildPool({ ...rest, entry: 'stt-child', processes: sttProcesses, keepsLast: warm, stopMs })
  const streams = new StreamPool({
    ...rest,
    processes: sttProcesses,
    streamsMax: sttStreamsMax,
    openMs: jobTimeoutMs,
    stopMs,
  })
  const ttsPool = new ChildPool({ ...rest, entry: 'tts-child', processes: ttsProcesses, keepsLast: false, stopMs })
  const closing = new AbortController()
  const endWarmUp = warm ? rest.clock.after(warmUpAfterMs, () => warmUp(sttPool, options, closing.signal)) : () => {}
  return {
    id: 'local',
    models: localModels,
    unavailable: () => null,
    ports: {
      speech: {
        stt: createLocalStt({ pool: sttPool, streams, jobTimeoutMs, ...(onProgress && { onProgress }) }),
        tts: createLocalTts({ pool: ttsPool, jobTimeoutMs }),
        aligner: createLocalAligner({ pool: sttPool, jobTimeoutMs }),
      },
      llm: createScriptedLlm(),
    },
    warmUp: (stage) => {
      if (!warm) return
      if (stage === 'stt') streams.warmUp()
      if (stage === 'tts' && !ttsPool.hasChildren) warmUp(ttsPool, options, closing.signal)
    },
    queues: () => ({ stt: sttPool.waiting, tts: ttsPool.waiting }),
    close: async () => {
      endWarmUp()
      closing.abort()
      await Promise.all([sttPool.close(), streams.close(), ttsPool.close()])
    },
  }
}

/** A failure is left to the first request, which tries again and reports it. */
function warmUp(pool: ChildPool, { jobTimeoutMs: timeoutMs, log }: LocalOptions, closing: AbortSignal): void {
  const input: WarmInput = { warm: true }
  pool.run({ input, expectedMs: 0, timeoutMs }, closing).then(
    () => log.info({}, 'speech child warmed up'),
    (err: unknown) => {
      if (!closing.aborted) log.warn({ err }, 'speech child not warmed up')
    },
  )
}
