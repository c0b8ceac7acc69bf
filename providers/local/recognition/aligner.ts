/** Forced alignment: finds how far a text was spoken in given audio. Runs in the child processes for recordings. */
import type { Aligner } from '../../../domain/ports/alignment.ts'
import { ProviderError } from '../../../domain/ports/provider-error.ts'
import { type ChildPool, ownerOf } from '../children/child-pool.ts'
import type { AlignInput, AlignOutput } from './stt-messages.ts'

/** The expected time for an alignment, measured on a busy core: 30 ms, and 20 ms more per second of audio. */
const expectedMs = { start: 30, perAudioMs: 0.02 }
/**
 * The longest acceptable time for an alignment. A live session waits for the result after the caller has interrupted
 * the agent.
 */
const waitMsMax = 300

export function createLocalAligner({ pool, jobTimeoutMs }: { pool: ChildPool; jobTimeoutMs: number }): Aligner {
  return {
    async spokenUpTo({ text, samples, sampleRateHz }, signal) {
      const durationMs = (samples.length * 1000) / sampleRateHz
      const neededMs = expectedMs.start + durationMs * expectedMs.perAudioMs
      // The alignment is refused if it would have to wait for another job to finish or for a process to load its
      // models.
      if (!pool.isReady || neededMs > waitMsMax) throw new ProviderError('overloaded', { sent: false })
      const format = { container: 'raw', encoding: 'pcm_s16le', sampleRateHz, channels: 1 } as const
      const input: AlignInput = { format, durationMs, alignText: text }
      const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)
      const job = {
        input,
        owner: ownerOf(signal),
        pieces: [bytes].values(),
        expectedMs: neededMs,
        timeoutMs: jobTimeoutMs,
      }
      return ((await pool.run(job, signal)) as AlignOutput).place
    },
  }
}
