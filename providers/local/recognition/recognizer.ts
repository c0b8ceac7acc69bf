import type { Benchmark, Objective } from '../../../domain/ports/model.ts'
import type { EngineEntry } from '../children/speech-engine-process.ts'
import type { InstallableModel } from '../weights/installed-model.ts'

/** An embedded recognizer. Each recognizer is a model in the catalog and has its own child processes. */
export type Recognizer = {
  /** The model's id in the catalog. */
  model: string
  /** The entry files for its child processes: for recordings, and for live streams. */
  entries: { recordings: EngineEntry; streams: EngineEntry }
  /**
   * The time limit for a cancelled job or stream to stop. Then the child is killed with all its streams, so the limit
   * is several times the longest step without an interruption.
   */
  stopMs: number
  /** BCP 47 base languages. */
  languages: readonly string[]
  /** The expected recognition time, in seconds for each second of audio, on a busy core. */
  expectedPerAudio: number
  benchmarks: readonly Benchmark[]
  /** The objectives for which the figures rank the model. Absent: all. */
  scoredFor?: readonly Objective[]
  /** The files that the user adds. Null if the files are part of the product. */
  files: InstallableModel | null
}
