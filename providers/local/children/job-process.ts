/**
 * The parent's side for one child process for speech. If a child does not stop, it is killed; no data is lost, because
 * children store nothing.
 */
import { ProviderError } from '../../../domain/ports/provider-error.ts'
import type { Clock } from '../../../domain/ports/system.ts'
import type { FromSpeechChild, ToSpeechChild } from './child-messages.ts'
import { type EngineEntry, SpeechEngineProcess } from './speech-engine-process.ts'

export type ChildJob = {
  input: object
  /** The recording's pieces. The child requests one piece at a time. */
  pieces?: Iterator<Uint8Array>
  onProgress?: (doneMs: number) => void
}

type Pending = ChildJob & { resolve: (output: unknown) => void; reject: (error: ProviderError) => void }

export class JobProcess {
  readonly #process: SpeechEngineProcess<ToSpeechChild, FromSpeechChild>
  #pending: Pending | undefined

  constructor(entry: EngineEntry, args?: readonly string[]) {
    this.#process = new SpeechEngineProcess(entry, {
      args,
      onMessage: (message) => this.#take(message),
      onEnd: (error) => this.#settle()?.reject(error),
    })
  }

  /** Resolves when the process has ended, with the signal's name or the exit code. */
  get exited(): Promise<string> {
    return this.#process.exited
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  /** False once `end` or `kill` was called. */
  get alive(): boolean {
    return this.#process.alive
  }

  get busy(): boolean {
    return this.#pending !== undefined
  }

  /** Runs one job at a time. Rejects with ProviderError `bad_request`, `server` or `unreachable`. */
  run(job: ChildJob): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#pending = { ...job, resolve, reject }
      this.#process.send({ type: 'start', input: job.input })
    })
  }

  /**
   * Asks the child to cancel its job. If the child does not soon report the job as failed, the child must be killed.
   */
  stop(): void {
    this.#process.send({ type: 'stop' })
  }

  /** Asks the child to exit. If it is still running after `stopMs`, it is killed. */
  end(clock: Clock, stopMs: number): void {
    this.#process.end(clock, stopMs)
  }

  kill(): void {
    this.#process.kill()
  }

  #take(message: FromSpeechChild): void {
    switch (message.type) {
      case 'more':
        return this.#feed()
      case 'progress':
        return this.#pending?.onProgress?.(message.doneMs)
      case 'done':
        return this.#settle()?.resolve(message.output)
      case 'failed': {
        const cause = new Error(message.message)
        return this.#settle()?.reject(new ProviderError(message.errorClass, { sent: true, cause }))
      }
    }
  }

  #feed(): void {
    const piece = this.#pending?.pieces?.next()
    if (piece === undefined || piece.done) this.#process.send({ type: 'ended' })
    else this.#process.send({ type: 'piece', bytes: piece.value })
  }

  #settle(): Pending | undefined {
    const pending = this.#pending
    this.#pending = undefined
    return pending
  }
}
