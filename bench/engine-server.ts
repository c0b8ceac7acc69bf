/** Starts the built server for measurements on the embedded engines, and finds the engines' processes. */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Running, startParley } from '../test/process/parley.ts'
import { cpuMs, residentMiB } from './process-figures.ts'

/** The folders with added models: the configured folder, a local server's folder, and the tests' folder. */
const modelFolders = [process.env['PARLEY_LOCAL_MODELS_DIR'] ?? '', '.parley/models', '.cache/models']

export const modelsDir = path.resolve(
  modelFolders.find((folder) => existsSync(path.join(folder, 'whisper-base'))) ?? '/nowhere',
)

const logEveryMs = 50
const logTries = 100

export function startEngineServer(dataDir: string): Promise<Running> {
  // The log has the engines' process ids.
  return startParley({ PARLEY_LOG_LEVEL: 'info', PARLEY_LOCAL_MODELS_DIR: modelsDir }, dataDir)
}

export class EngineChild {
  readonly #pid: number

  private constructor(pid: number) {
    this.#pid = pid
  }

  /** Finds the process in the log. The process must have been started by a request. */
  static async of(parley: Running, entry: string): Promise<EngineChild> {
    const pattern = new RegExp(`"entry":"${entry}","childPid":(\\d+)`)
    // The log's lines arrive after the response.
    for (let tries = 0; tries < logTries; tries++) {
      const pid = pattern.exec(parley.output())?.[1]
      if (pid !== undefined) return new EngineChild(Number(pid))
      await sleep(logEveryMs)
    }
    throw new Error(`the server has not started ${entry}`)
  }

  get residentMiB(): number {
    return residentMiB(this.#pid)
  }

  /** Returns the processor time that the process needs during `work`, and the wall time, in seconds. */
  async timeOf(work: () => Promise<unknown>): Promise<{ cpuS: number; wallS: number }> {
    const startedMs = performance.now()
    const beforeMs = cpuMs(this.#pid)
    await work()
    return { cpuS: (cpuMs(this.#pid) - beforeMs) / 1000, wallS: (performance.now() - startedMs) / 1000 }
  }
}
